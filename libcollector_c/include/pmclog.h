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

/* Why data is missing: 1 to 15 were counted by the recorder, the others are found by this parser. */
enum pmclog_drop_cause {
    PMCLOG_DROP_BUSY = 1,
    PMCLOG_DROP_NO_SPACE = 2,
    PMCLOG_DROP_NO_MEMORY = 3,
    PMCLOG_DROP_LOG_FULL = 4,
    PMCLOG_DROP_BAD_ARGUMENT = 5,
    PMCLOG_DROP_UNSAFE_THREAD = 6,
    PMCLOG_DROP_DAMAGE = 16,
    PMCLOG_DROP_MISSING_FRAMES = 17,
    PMCLOG_DROP_TRUNCATED = 18,   /* only after pmclog_finish */
    PMCLOG_DROP_UNKNOWN_KIND = 19 /* only after pmclog_finish */
};

/* In a call chain, stands for frames that were left out: those between the 2,047 nearest to the leaf and the 2,048 nearest to the root. */
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
    uint32_t pl_pmcid; /* the source's id in this log */
    const char *pl_evname;
    const char *pl_clock;
    const char *pl_unit;
    uint64_t pl_period_ns;
    uint64_t pl_effective_period_ns;
    const char *pl_detail;
    const char *const *pl_attributes; /* of a metric: name=value */
    size_t pl_attribute_count;
    const char *const *pl_values; /* what its samples stand for, each "name unit"; none of a metric */
    size_t pl_value_count;
    const char *pl_counted_as; /* the metric that counts its samples, NULL: samples */
};

struct pmclog_ev_proccsw {
    uint32_t pl_pmcid;
    pid_t pl_pid;
    uint64_t pl_value;
    uint32_t pl_voluntary; /* 1 the thread gave way itself */
    uint64_t pl_switches;  /* of that kind, since the last record of it */
};

/* From the recorder, pl_count is cumulative per thread and cause. From this parser it is cumulative per cause: how many damaged
   stretches, how many frames missing, how many records of unknown kind. */
struct pmclog_ev_dropnotify {
    uint32_t pl_cause; /* enum pmclog_drop_cause */
    uint64_t pl_count;
    uint64_t pl_offset; /* of the loss, in bytes from the start of the log; only from this parser */
    uint64_t pl_length; /* bytes lost */
};

struct pmclog_ev_procexit {
    pid_t pl_pid;
    uint32_t pl_pmcid;
    uint64_t pl_value;
    uint64_t pl_user_ns;
    uint64_t pl_system_ns;
    int32_t pl_status; /* as from waitpid(2); -1 unknown */
};

struct pmclog_ev_initialize {
    uint32_t pl_version; /* major */
    uint32_t pl_version_minor;
    uint64_t pl_wall_ns; /* CLOCK_REALTIME at pl_ts: wall time of any event = its pl_ts - this pl_ts + pl_wall_ns */
    pid_t pl_pid;
    pid_t pl_ppid;
    uint32_t pl_image;
    const char *pl_host;
    const char *pl_arch;
    const char *pl_kernel;
    uint32_t pl_cpu_count;
    uint64_t pl_page_bytes;
    const char *pl_pathname;
    const char *const *pl_arguments;
    size_t pl_argument_count;
    const char *pl_directory;
    const char *const *pl_options;
    size_t pl_option_count;
    const char *pl_library_version;
    uint32_t pl_uid;
    uint64_t pl_user_ns;
    uint64_t pl_system_ns;
    uint64_t pl_start_ticks;   /* with pl_pid_namespace: tells processes of one number apart */
    uint64_t pl_pid_namespace; /* PMCLOG_UNKNOWN, like the above, where /proc did not tell */
    uint64_t pl_rank;          /* of a parallel job; PMCLOG_UNKNOWN if it is no rank */
    uint64_t pl_local_rank;    /* among those of its node; PMCLOG_UNKNOWN if its launcher does not say */
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
    uint32_t pl_pmcid;
    pid_t pl_pid;
    uint64_t pl_value; /* reading of the source, in its unit; UINT64_MAX: none */
};

struct pmclog_ev_userdata {
    const void *pl_userdata;
    size_t pl_userdata_bytes;
};

struct pmclog_ev_procexec {
    pid_t pl_pid;
    uint64_t pl_entryaddr; /* 0 where it is not known yet */
    const char *pl_pathname;
};

struct pmclog_ev_closelog {
    uint32_t pl_reason; /* 0 exit, 1 terminated, 2 exec, 4 seccomp */
    uint64_t pl_sample_count;
    uint64_t pl_frame_count;
    uint64_t pl_drop_count;
    uint64_t pl_user_ns;
    uint64_t pl_system_ns;
};

/* elf_address = address - pl_bias, modulo 2^64. pl_name and what follows it belong to code made at run time. */
struct pmclog_ev_mappingchange {
    uint32_t pl_action; /* 1 insert, 2 delete */
    uint32_t pl_kind; /* 0 object, 1 dynamic function, 2 dynamic module, 3 anonymous, 4 Python code, 5 imported code */
    uint64_t pl_start;
    uint64_t pl_end;
    uint64_t pl_bias;
    uint64_t pl_file_offset;
    const char *pl_pathname;
    const void *pl_build_id;
    size_t pl_build_id_bytes;
    const char *pl_name;
    const char *pl_alias;
    const char *pl_source;
    const void *pl_lines; /* encoded as pl_line_table says */
    size_t pl_lines_bytes;
    const void *pl_code;
    size_t pl_code_bytes;
    const char *pl_copy;
    uint64_t pl_file_bytes; /* this and the next two: of a file without a build id */
    uint64_t pl_file_changed_ns;
    uint32_t pl_text_checksum;
    uint32_t pl_first_line; /* of Python and imported code */
    uint32_t
        pl_line_table; /* 0 pairs of little-endian int32: offset, line; 1 co_lnotab, 2 co_linetable of 3.10, 3 of 3.11 on */
    const char *pl_definition; /* this and the next: of imported code */
    uint64_t pl_caller;
};

struct pmclog_ev_pmcdetach {
    uint32_t pl_pmcid;
    pid_t pl_pid;
};

struct pmclog_ev_procfork {
    pid_t pl_oldpid;
    pid_t pl_newpid;
};

struct pmclog_ev_sysexit {
    pid_t pl_pid;
    int32_t pl_status; /* -1 unknown */
    const char *pl_pathname;
    const char *pl_reason;
};

/* ---- our own kinds ---- */

struct pmclog_ev_sample {
    const char *pl_label;
    uint32_t pl_cause; /* 0 call, 1 periodic, 2 signal, 3 start, 4 end */
    pid_t pl_pid;
    uint64_t pl_user_ns;
    uint64_t pl_system_ns;
    uint64_t pl_minor_faults;
    uint64_t pl_major_faults;
    uint64_t pl_voluntary_switches;
    uint64_t pl_involuntary_switches;
    uint64_t pl_resident_bytes;
    uint64_t pl_read_bytes;
    uint64_t pl_written_bytes;
};

struct pmclog_ev_pause {
    uint32_t pl_cause; /* 0 call, 1 signal, 3 option, 4 a debugger */
};

struct pmclog_ev_thr_create {
    const char *pl_name;
    uint64_t pl_start_address;
};

struct pmclog_ev_thr_exit {
    const char *pl_name;
    uint64_t pl_user_ns;
    uint64_t pl_system_ns;
    uint32_t pl_is_exit;    /* 0: it was alive when the log was closed */
    uint64_t pl_pending_ns; /* CPU time that no sample stands for, to be spread over all of the thread's */
};

struct pmclog_ev_metric {
    uint32_t pl_pmcid;
    uint64_t pl_interval_ns;
    int pl_is_real; /* 1: pl_real holds the value, 0: pl_value does */
    uint64_t pl_value;
    double pl_real;
};

struct pmclog_ev_message {
    uint32_t pl_severity; /* 0 note, 1 warning, 2 error */
    const char *pl_text;
    uint64_t pl_count;
    const char *pl_subject;
};

struct pmclog_ev_interpreter {
    const char *pl_name;
    const char *pl_version;
    uint64_t pl_start; /* of the code of the module that holds it, 0 if unknown */
    uint64_t pl_end;
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
