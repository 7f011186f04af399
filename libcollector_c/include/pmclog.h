/* pmclog.h -- read the event log of an experiment, event by event, after pmclog(3) */
#ifndef PMCLOG_H
#define PMCLOG_H

/*
 * One parser reads one log (PID.N.log of an experiment, see docs/format.md). It may be used from one thread at a time; different
 * parsers are independent. No function here may be called from a signal handler.
 *
 *     void *parser = pmclog_open(fd);
 *     struct pmclog_ev ev;
 *     while (pmclog_read(parser, &ev) == 0)
 *         switch (ev.pl_type) { case PMCLOG_TYPE_PCSAMPLE: ... ev.pl_u.pl_s.pl_pc ... }
 *     switch (ev.pl_state) { case PMCLOG_EOF: ... }
 *     pmclog_close(parser);
 *
 * Every pointer in an event (text, data, call chain) points into the parser and is valid until the next pmclog_read, pmclog_feed
 * or pmclog_close with that parser. Text ends in a zero byte and is as the system gave it, UTF-8 or not.
 * A number the log does not know, or that its member cannot hold, is PMCLOG_UNKNOWN: all ones, in whatever width the member has. Text and
 * data it does not know is NULL.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PMCLOG_API __attribute__((visibility("default")))
#else
#define PMCLOG_API
#endif

#define PMCLOG_FD_NONE (-1)
#define PMCLOG_UNKNOWN UINT64_MAX

enum pmclog_state {
    PMCLOG_OK,           /* an event was read */
    PMCLOG_EOF,          /* end of the file for now; another read goes on if the file has grown */
    PMCLOG_REQUIRE_DATA, /* feed more, or wait for the descriptor */
    PMCLOG_ERROR         /* errno says what, pmclog_error says it in a sentence */
};

/* 1 to 14 are the kinds of pmclog(3), ours begin at 32. The numbers are those of the log. */
enum pmclog_type {
    PMCLOG_TYPE_CLOSELOG = 1,
    PMCLOG_TYPE_DROPNOTIFY = 2,
    PMCLOG_TYPE_INITIALIZE = 3,
    PMCLOG_TYPE_MAPPINGCHANGE = 4,
    PMCLOG_TYPE_PCSAMPLE = 5,
    PMCLOG_TYPE_PMCALLOCATE = 6,
    PMCLOG_TYPE_PMCATTACH = 7,
    PMCLOG_TYPE_PMCDETACH = 8,
    PMCLOG_TYPE_PROCCSW = 9,
    PMCLOG_TYPE_PROCEXEC = 10,
    PMCLOG_TYPE_PROCEXIT = 11,
    PMCLOG_TYPE_PROCFORK = 12,
    PMCLOG_TYPE_SYSEXIT = 13,
    PMCLOG_TYPE_USERDATA = 14,
    PMCLOG_TYPE_SAMPLE = 32,
    PMCLOG_TYPE_PAUSE = 33,
    PMCLOG_TYPE_RESUME = 34,
    PMCLOG_TYPE_THR_CREATE = 35,
    PMCLOG_TYPE_THR_EXIT = 36,
    PMCLOG_TYPE_METRIC = 37,
    PMCLOG_TYPE_MESSAGE = 38,
    PMCLOG_TYPE_INTERPRETER = 39
};

/* Why data is missing: 1 to 15 were counted by the recorder, the others are found by this parser, TRUNCATED and UNKNOWN_KIND in pmclog_finish. */
enum pmclog_drop_cause {
    PMCLOG_DROP_BUSY = 1,
    PMCLOG_DROP_NO_SPACE = 2,
    PMCLOG_DROP_NO_MEMORY = 3,
    PMCLOG_DROP_LOG_FULL = 4,
    PMCLOG_DROP_BAD_ARGUMENT = 5,
    PMCLOG_DROP_UNSAFE_THREAD = 6,
    PMCLOG_DROP_DAMAGE = 16,
    PMCLOG_DROP_MISSING_FRAMES = 17,
    PMCLOG_DROP_TRUNCATED = 18,
    PMCLOG_DROP_UNKNOWN_KIND = 19
};

/* In a call chain, stands for frames that were left out: those between the 1,024 to 2,047 nearest to the leaf and the 2,048 nearest to the root. */
enum { PMCLOG_FRAMES_LEFT_OUT = 1 };

/*
 * In a call chain, an address from here up to, not including, 3 * 2^62 stands for an OpenMP parallel region. Beyond it is the call that opened the region, in whichever thread made it; its
 * return address is so much lower.
 */
#define PMCLOG_PARALLEL_REGION (UINT64_C(1) << 63)

/* Why a call chain ends where it ends; anything but COMPLETE and GUESSED (complete, but a frame without
   unwind table was left by a guess) means that callers are missing. */
enum pmclog_chain_end {
    PMCLOG_END_COMPLETE = 0,
    PMCLOG_END_DEPTH_LIMIT = 1,
    PMCLOG_END_NO_UNWIND_INFO = 2,
    PMCLOG_END_GUESSED = 3,
    PMCLOG_END_UNREADABLE = 4,
    PMCLOG_END_BAD_PC = 5,
    PMCLOG_END_BAD_FRAME = 6,
    PMCLOG_END_NOT_SAMPLED = 7
};

/* ---- the kinds of pmclog(3) ---- */

struct pmclog_ev_allocate {
    uint32_t pl_pmcid;     /* id of the source in this log */
    const char *pl_evname; /* what is measured: cpu, or the id of a metric */
    /* how: sigtrap, task-clock, cpu-timer, or plugin; imported samples: what was counted */
    const char *pl_clock;
    const char *pl_unit;              /* unit of its values */
    uint64_t pl_period_ns;            /* asked period */
    uint64_t pl_effective_period_ns;  /* shortest period the clock can deliver here */
    const char *pl_detail;            /* why this clock: what kept the clocks before it from being used */
    const char *const *pl_attributes; /* of a metric: `name=value` (docs/format.md); empty for a clock */
    size_t pl_attribute_count;
    const char *const *pl_values; /* what its samples stand for (docs/format.md); NULL or empty for a metric */
    size_t pl_value_count;
    const char *pl_counted_as; /* the metric that counts its samples, NULL: samples */
};

struct pmclog_ev_proccsw {
    uint32_t pl_pmcid;     /* id of the source */
    pid_t pl_pid;          /* process */
    uint64_t pl_value;     /* reading of the source so far, in its unit */
    uint32_t pl_voluntary; /* 1 the thread gave way itself, 0 it was preempted */
    uint64_t pl_switches;  /* how many switches of that kind since the thread's last record of it */
};

/* From the recorder, pl_count is cumulative per thread and cause. From this parser it is cumulative per cause: how many damaged
   stretches, how many frames missing, how many records of unknown kind. */
struct pmclog_ev_dropnotify {
    uint32_t pl_cause;  /* enum pmclog_drop_cause */
    uint64_t pl_count;  /* how many so far: cumulative per thread and cause */
    uint64_t pl_offset; /* reader: byte offset of the loss in the log */
    uint64_t pl_length; /* reader: bytes lost */
};

struct pmclog_ev_procexit {
    pid_t pl_pid;          /* process */
    uint32_t pl_pmcid;     /* id of the source */
    uint64_t pl_value;     /* accumulated reading of the source, in its unit */
    uint64_t pl_user_ns;   /* user CPU time of the process */
    uint64_t pl_system_ns; /* system CPU time of the process */
    int32_t pl_status;     /* wait status where it is known, else -1 */
};

/* Wall time of any event = its pl_ts - the pl_ts of this one + pl_wall_ns. */
struct pmclog_ev_initialize {
    uint32_t pl_version;       /* readers refuse a newer one */
    uint32_t pl_version_minor; /* fields or kinds were added */
    uint64_t pl_wall_ns;       /* CLOCK_REALTIME at `time` */
    pid_t pl_pid;              /* process id */
    pid_t pl_ppid;             /* parent's process id */
    uint32_t pl_image;         /* N of the file's name */
    const char *pl_host;       /* uname -n */
    const char *pl_arch;       /* uname -m */
    const char *pl_kernel;     /* uname -r */
    /* processors online; PMCLOG_UNKNOWN but in `launch.log`, `node.log`, and the log of a process that made the experiment's directory */
    uint32_t pl_cpu_count;
    uint64_t pl_page_bytes;          /* size of a page */
    const char *pl_pathname;         /* path of the program file */
    const char *const *pl_arguments; /* argv */
    size_t pl_argument_count;
    const char *pl_directory;      /* working directory */
    const char *const *pl_options; /* `name=value` as the recorder understood them */
    size_t pl_option_count;
    const char *pl_library_version; /* version of the recorder */
    uint32_t pl_uid;                /* real user id */
    uint64_t pl_user_ns;            /* user CPU time of the process before recording began */
    uint64_t pl_system_ns;          /* system CPU time of the process before recording began */
    /* when the process began: field 22 of /proc/self/stat (docs/format.md); PMCLOG_UNKNOWN if unknown */
    uint64_t pl_start_ticks;
    /* the PID namespace that `pid` counts in: inode of /proc/self/ns/pid; PMCLOG_UNKNOWN if unknown */
    uint64_t pl_pid_namespace;
    uint64_t pl_rank;       /* which rank of a parallel job it is, or belongs to; PMCLOG_UNKNOWN if none */
    uint64_t pl_local_rank; /* which of the ranks on its node; PMCLOG_UNKNOWN if none, or unknown */
};

/* One sample. pl_chain[0] is pl_pc, the interrupted instruction; every other address is one past an instruction of the call it
   stands for. A sample whose stack the log does not define has pl_npc 0, pl_pc 0 and pl_end PMCLOG_END_NO_UNWIND_INFO. */
struct pmclog_ev_pcsample {
    uint64_t pl_pc;
    const uint64_t *pl_chain; /* leaf first */
    uint32_t pl_npc;
    uint32_t pl_end; /* enum pmclog_chain_end */
    pid_t pl_pid;
    uint32_t pl_pmcid;
    uint64_t pl_user_ns; /* CPU time the sample stands for, 0 if its source has none */
    uint64_t pl_system_ns;
    const uint64_t
        *pl_values; /* all that it stands for, in the order of its source's pl_values; times in nanoseconds */
    size_t pl_value_count;
};

struct pmclog_ev_pmcattach {
    uint32_t pl_pmcid; /* id of the source */
    pid_t pl_pid;      /* process */
    /* reading of the source at this moment, in its unit; PMCLOG_UNKNOWN for a metric */
    uint64_t pl_value;
};

struct pmclog_ev_userdata {
    const void *pl_userdata; /* what the program wrote */
    size_t pl_userdata_bytes;
};

struct pmclog_ev_procexec {
    pid_t pl_pid;            /* process */
    uint64_t pl_entryaddr;   /* entry address of the new image, 0 where it is not known yet */
    const char *pl_pathname; /* program file */
};

struct pmclog_ev_closelog {
    uint32_t pl_reason;       /* 0 exit, 1 terminated, 2 exec, 4 seccomp */
    uint64_t pl_sample_count; /* PCSAMPLE samples written to this log */
    uint64_t pl_frame_count;  /* frames written before this one */
    uint64_t pl_drop_count;   /* all drops of this log */
    uint64_t pl_user_ns;      /* user CPU time of the process so far */
    uint64_t pl_system_ns;    /* system CPU time of the process so far */
};

/* pl_name and what follows it belong to code made at run time. Pairs in pl_lines are little-endian int32: offset, line; the other line
   tables are CPython's own. */
struct pmclog_ev_mappingchange {
    uint32_t pl_action; /* 1 insert, 2 delete */
    /* 0 object, 1 dynamic function, 2 dynamic module, 3 anonymous, 4 python code, 5 imported code, 6 java method */
    uint32_t pl_kind;
    uint64_t pl_start;       /* first address */
    uint64_t pl_end;         /* first address after it */
    uint64_t pl_bias;        /* elf_address = address - bias, modulo 2^64 */
    uint64_t pl_file_offset; /* offset of `start` in the file */
    const char *pl_pathname; /* file, or [vdso], or empty; imported code: its module, as given */
    const void *pl_build_id; /* GNU build id, empty or NULL if none */
    size_t pl_build_id_bytes;
    /* dynamic function, imported code: its name; Python code: its qualified name; Java method: its class and name */
    const char *pl_name;
    const char *pl_alias; /* dynamic function: free text; Java method: its descriptor; NULL if none */
    /* dynamic function, Python and imported code, Java method: source file, NULL if none */
    const char *pl_source;
    const void *pl_lines; /* the same: lines by offset, encoded as `line_table` says */
    size_t pl_lines_bytes;
    const void *pl_code; /* dynamic function: its bytes when it was registered */
    size_t pl_code_bytes;
    const char *pl_copy;         /* dynamic module: file in objects/ that holds a copy, NULL if none */
    uint64_t pl_file_bytes;      /* file without a build id: its size, PMCLOG_UNKNOWN if unknown */
    uint64_t pl_file_changed_ns; /* the same: CLOCK_REALTIME of the last change of its contents */
    uint32_t pl_text_checksum;   /* the same: of its code in memory (docs/format.md) */
    uint32_t pl_first_line;      /* Python and imported code: line of its definition, PMCLOG_UNKNOWN if unknown */
    uint32_t pl_line_table;      /* 0 pairs, 1 lnotab, 2 linetable, 3 locations */
    const char *pl_definition;   /* imported code: source file of the function, NULL if unknown */
    /* imported code that was inlined: the address that stands for the call; else PMCLOG_UNKNOWN */
    uint64_t pl_caller;
};

struct pmclog_ev_pmcdetach {
    uint32_t pl_pmcid; /* id of the source */
    pid_t pl_pid;      /* process */
};

struct pmclog_ev_procfork {
    pid_t pl_oldpid; /* who forked */
    pid_t pl_newpid; /* who was born */
};

struct pmclog_ev_sysexit {
    pid_t pl_pid;            /* a descendant that was not recorded */
    int32_t pl_status;       /* wait status, -1 if unknown */
    const char *pl_pathname; /* its program, NULL if unknown */
    const char *pl_reason;   /* why it was not recorded */
};

/* ---- our own kinds ---- */

struct pmclog_ev_sample {
    const char *pl_label;             /* what the program called it; empty for periodic ones */
    uint32_t pl_cause;                /* 0 api, 1 periodic, 2 signal, 3 start, 4 end */
    pid_t pl_pid;                     /* process */
    uint64_t pl_user_ns;              /* user CPU time so far */
    uint64_t pl_system_ns;            /* system CPU time so far */
    uint64_t pl_minor_faults;         /* page faults without I/O so far */
    uint64_t pl_major_faults;         /* page faults with I/O so far */
    uint64_t pl_voluntary_switches;   /* voluntary context switches so far */
    uint64_t pl_involuntary_switches; /* involuntary context switches so far */
    uint64_t pl_resident_bytes;       /* resident memory now, PMCLOG_UNKNOWN if unknown, and at cause START */
    uint64_t pl_read_bytes;           /* bytes read by system calls so far (rchar), PMCLOG_UNKNOWN if unknown */
    uint64_t pl_written_bytes;        /* bytes written by system calls so far (wchar), PMCLOG_UNKNOWN if unknown */
    uint64_t pl_peak_resident_bytes;  /* most resident memory so far, PMCLOG_UNKNOWN if unknown, and at cause START */
};

struct pmclog_ev_pause {
    uint32_t pl_cause; /* 0 api, 1 signal, 3 option, 4 tracer */
};

struct pmclog_ev_thr_create {
    const char *pl_name;       /* the thread's name then */
    uint64_t pl_start_address; /* function it was started with, 0 if unknown */
};

struct pmclog_ev_thr_exit {
    const char *pl_name; /* the thread's name at the end */
    /* user CPU time of the thread; PMCLOG_UNKNOWN, as `name` and `system_ns`, of one whose process was killed */
    uint64_t pl_user_ns;
    uint64_t pl_system_ns; /* system CPU time of the thread */
    uint32_t pl_is_exit;   /* 1 the thread ended; 0 it was alive when the log was closed */
    /* CPU time since its last sample, or of missing ticks, that no sample stands for: readers add it, see `missing` */
    uint64_t pl_pending_ns;
};

struct pmclog_ev_metric {
    uint32_t pl_pmcid;
    uint64_t pl_interval_ns;
    int pl_is_real; /* 1: pl_real holds the value, 0: pl_value does */
    uint64_t pl_value;
    double pl_real;
};

struct pmclog_ev_message {
    uint32_t pl_severity;   /* 0 note, 1 warning, 2 error, 3 what every view has to say */
    const char *pl_text;    /* one sentence */
    uint64_t pl_count;      /* how often so far */
    const char *pl_subject; /* what it is about, NULL if the recorder itself */
};

struct pmclog_ev_interpreter {
    const char *pl_name;    /* CPython or HotSpot */
    const char *pl_version; /* 3.11.2 */
    /* first address of the code of the module that holds the interpreter, 0 if unknown */
    uint64_t pl_start;
    uint64_t pl_end;       /* first address after it, 0 if unknown */
    const char *pl_detail; /* why its functions are not recorded, NULL if they are */
};

struct pmclog_ev {
    enum pmclog_state pl_state;
    /* Where the record starts; all samples, or values of metrics, of one record share it. A DROPNOTIFY of this parser: where the
     * loss starts. */
    off_t pl_offset;
    size_t pl_count;       /* serial number of this event, from 1 */
    struct timespec pl_ts; /* CLOCK_MONOTONIC. A DROPNOTIFY of this parser carries the time of the record before it */
    enum pmclog_type pl_type;
    union {
        struct pmclog_ev_allocate pl_a;
        struct pmclog_ev_proccsw pl_c;
        struct pmclog_ev_dropnotify pl_d;
        struct pmclog_ev_procexit pl_e;
        struct pmclog_ev_initialize pl_i;
        struct pmclog_ev_pcsample pl_s;
        struct pmclog_ev_pmcattach pl_t;
        struct pmclog_ev_userdata pl_u;
        struct pmclog_ev_procexec pl_x;
        struct pmclog_ev_closelog pl_cl;
        struct pmclog_ev_mappingchange pl_m;
        struct pmclog_ev_pmcdetach pl_dt;
        struct pmclog_ev_procfork pl_f;
        struct pmclog_ev_sysexit pl_se;
        struct pmclog_ev_sample pl_sample;
        struct pmclog_ev_pause pl_pause;
        struct pmclog_ev_pause pl_resume;
        struct pmclog_ev_thr_create pl_thr_create;
        struct pmclog_ev_thr_exit pl_thr_exit;
        struct pmclog_ev_metric pl_metric;
        struct pmclog_ev_message pl_message;
        struct pmclog_ev_interpreter pl_interpreter;
    } pl_u;
    uint32_t pl_tid; /* kernel thread id, 0 where the event concerns the whole process */
};

/* What was read so far. A log is complete when it is closed and nothing was lost and nothing is left over. */
struct pmclog_totals {
    uint64_t pl_events;
    uint64_t pl_samples;
    uint64_t pl_frames;
    uint64_t pl_damages; /* damaged stretches */
    uint64_t pl_damaged_bytes;
    uint64_t pl_missing_frames;
    uint64_t pl_unknown_kinds;  /* records skipped because their kind is newer than this library */
    uint64_t pl_leftover_bytes; /* of a frame cut off by the end of the file, known once PMCLOG_EOF was returned */
    int pl_is_closed;           /* CLOSELOG was read */
};

/* A parser for the log behind fd, from its present position on, or with PMCLOG_FD_NONE for bytes given by pmclog_feed.
   The descriptor stays the caller's and must stay open until pmclog_close. NULL and errno: ENOMEM; EISDIR or EINVAL for a directory or a
   device, which are no logs; those of fstat(2). */
PMCLOG_API void *pmclog_open(int fd);

/* Frees the parser and everything its events point to. NULL is allowed. */
PMCLOG_API void pmclog_close(void *cookie);

/* The next event: 0 and pl_state PMCLOG_OK, or -1 and another state. What is damaged is passed over and told by a DROPNOTIFY.
   A killed process leaves its newest samples in the log's open frames: they come after the frames, as events like all others, once no process of the
   log's number runs any more, or after pmclog_finish. They need a regular file, for they lie at its end.
   PMCLOG_ERROR sets errno: those of read(2) and malloc(3), after which the call may be repeated; and for good EBADMSG (damage, in strict
   mode only) and ENOTSUP (a log of a newer major version). */
PMCLOG_API int pmclog_read(void *cookie, struct pmclog_ev *ev);

/* Gives the next len bytes to a parser of PMCLOG_FD_NONE. They must stay valid until pmclog_read returns -1. -1 and errno EINVAL for a
   parser that reads a descriptor or a negative len, EBUSY while bytes of the last call are left. */
PMCLOG_API int pmclog_feed(void *cookie, char *data, int len);

/* Says that nothing more will be written or fed. What the next reads would have waited for is then told by DROPNOTIFY: damage at the end,
   a truncated frame, and how many records were of unknown kind. After that come the open frames of the log, if it has any. */
PMCLOG_API void pmclog_finish(void *cookie);

/* With on not 0, the first loss found in the log is PMCLOG_ERROR with EBADMSG, now and at every later read. */
PMCLOG_API void pmclog_set_strict(void *cookie, int on);

/* The last error as one sentence, empty if there was none. Valid until the next call with this parser. */
PMCLOG_API const char *pmclog_error(void *cookie);

/* Fills *totals with what was read so far. */
PMCLOG_API void pmclog_get_totals(void *cookie, struct pmclog_totals *totals);

#ifdef __cplusplus
}
#endif

#endif
