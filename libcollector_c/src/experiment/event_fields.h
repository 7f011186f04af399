/* event_fields.h -- the fields of each kind of record, as its function takes them; written by format_files.py from collector/format.py */
#ifndef COL_EXPERIMENT_EVENT_FIELDS_H
#define COL_EXPERIMENT_EVENT_FIELDS_H
/* clang-format off */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiment/format.h"

/* One of the fields of a kind: what it is, and where it lies in the kind's struct. */
struct col_event_field {
    uint8_t type; /* enum col_event_field_type */
    uint8_t flag; /* FLAGGED: the offset of the bool that says that it is known */
    uint16_t offset; /* of TEXTS and DATA: of a pointer with a size_t behind it */
};

enum col_event_field_type {
    COL_FIELD_UINT,
    COL_FIELD_FLAGGED_UINT,
    COL_FIELD_FLAGGED_INT,
    COL_FIELD_TEXT,
    COL_FIELD_DATA,
    COL_FIELD_TEXTS,
    COL_FIELD_NIL,
};

enum { COL_EVENT_KINDS = 40, COL_EVENT_MOST_FIELDS = 23 };

/* By kind: how many fields, and these. */
extern const uint8_t col_event_field_counts[COL_EVENT_KINDS];
extern const struct col_event_field col_event_fields[COL_EVENT_KINDS][COL_EVENT_MOST_FIELDS];

struct col_event_closelog {
    uint64_t reason;       /* CloseReason */
    uint64_t sample_count; /* PCSAMPLE samples written to this log */
    uint64_t frame_count;  /* frames written before this one */
    uint64_t drop_count;   /* all drops of this log */
    uint64_t user_ns;      /* user CPU time of the process so far */
    uint64_t system_ns;    /* system CPU time of the process so far */
};

struct col_event_dropnotify {
    uint64_t cause;  /* DropCause */
    uint64_t count;  /* how many so far: cumulative per thread and cause */
    uint64_t offset; /* reader: byte offset of the loss in the log */
    uint64_t length; /* reader: bytes lost */
};

struct col_event_initialize {
    uint64_t version_major; /* readers refuse a newer one */
    uint64_t version_minor; /* fields or kinds were added */
    uint64_t wall_ns;       /* CLOCK_REALTIME at `time` */
    uint64_t pid;           /* process id */
    uint64_t ppid;          /* parent's process id */
    uint64_t image;         /* N of the file's name */
    const char *host;       /* uname -n */
    const char *machine;    /* uname -m */
    const char *kernel;     /* uname -r */
    /* processors online; nil but in `launch.log`, `node.log`, and the log of a process that made the experiment's directory */
    uint64_t cpu_count;
    uint64_t page_bytes;          /* size of a page */
    const char *executable;       /* path of the program file */
    const char *const *arguments; /* argv */
    size_t argument_count;
    const char *directory;      /* working directory */
    const char *const *options; /* `name=value` as the recorder understood them */
    size_t option_count;
    const char *library_version; /* version of the recorder */
    uint64_t uid;                /* real user id */
    uint64_t user_ns;            /* user CPU time of the process before recording began */
    uint64_t system_ns;          /* system CPU time of the process before recording began */
    /* when the process began: field 22 of /proc/self/stat, see below; nil if unknown */
    uint64_t start_ticks;
    /* the PID namespace that `pid` counts in: inode of /proc/self/ns/pid; nil if unknown */
    uint64_t pid_namespace;
    uint64_t rank;       /* which rank of a parallel job it is, or belongs to; nil if none */
    uint64_t local_rank; /* which of the ranks on its node; nil if none, or unknown */
};

struct col_event_mappingchange {
    uint64_t action;      /* MapAction */
    uint64_t map_kind;    /* MapKind */
    uint64_t start;       /* first address */
    uint64_t end;         /* first address after it */
    uint64_t bias;        /* elf_address = address - bias, modulo 2^64 */
    uint64_t file_offset; /* offset of `start` in the file */
    const char *path;     /* file, or [vdso], or empty; imported code: its module, as given */
    const void *build_id; /* GNU build id, empty or nil if none */
    size_t build_id_bytes;
    /* dynamic function, imported code: its name; Python code: its qualified name; Java method: its class and name */
    const char *name;
    const char *alias; /* dynamic function: free text; Java method: its descriptor; nil if none */
    /* dynamic function, Python and imported code, Java method: source file, nil if none */
    const char *source;
    const void *lines; /* the same: lines by offset, encoded as `line_table` says */
    size_t lines_bytes;
    const void *code; /* dynamic function: its bytes when it was registered */
    size_t code_bytes;
    const char *copy; /* dynamic module: file in objects/ that holds a copy, nil if none */
    bool has_file;
    uint64_t file_bytes;      /* file without a build id: its size, nil if unknown */
    uint64_t file_changed_ns; /* the same: CLOCK_REALTIME of the last change of its contents */
    uint64_t text_checksum;   /* the same: of its code in memory, see below */
    uint64_t first_line;      /* Python and imported code: line of its definition, nil if unknown */
    uint64_t line_table;      /* LineEncoding */
};

struct col_event_pmcallocate {
    uint64_t source;  /* id of the source in this log */
    const char *name; /* what is measured: cpu, or the id of a metric */
    /* how: sigtrap, task-clock, cpu-timer, or plugin; imported samples: what was counted */
    const char *clock;
    const char *unit;              /* unit of its values */
    uint64_t period_ns;            /* asked period */
    uint64_t effective_period_ns;  /* shortest period the clock can deliver here */
    const char *detail;            /* why this clock: what kept the clocks before it from being used */
    const char *const *attributes; /* of a metric: `name=value`, see Metrics; empty for a clock */
    size_t attribute_count;
    const char *const *values; /* what its samples stand for, see Values; nil or empty for a metric */
    size_t value_count;
    const char *counted_as; /* the metric that counts its samples, nil: samples */
};

struct col_event_pmcattach {
    uint64_t source; /* id of the source */
    uint64_t pid;    /* process */
    uint64_t value;  /* reading of the source at this moment, in its unit; nil for a metric */
};

struct col_event_pmcdetach {
    uint64_t source; /* id of the source */
    uint64_t pid;    /* process */
};

struct col_event_proccsw {
    uint64_t source;    /* id of the source */
    uint64_t pid;       /* process */
    uint64_t value;     /* reading of the source so far, in its unit */
    uint64_t voluntary; /* 1 the thread gave way itself, 0 it was preempted */
    uint64_t count;     /* how many switches of that kind since the thread's last record of it */
};

struct col_event_procexec {
    uint64_t pid;     /* process */
    uint64_t entry;   /* entry address of the new image, 0 where it is not known yet */
    const char *path; /* program file */
};

struct col_event_procexit {
    uint64_t pid;       /* process */
    uint64_t source;    /* id of the source */
    uint64_t value;     /* accumulated reading of the source, in its unit */
    uint64_t user_ns;   /* user CPU time of the process */
    uint64_t system_ns; /* system CPU time of the process */
    bool has_status;
    int64_t status; /* wait status where it is known, else nil */
};

struct col_event_procfork {
    uint64_t parent_pid; /* who forked */
    uint64_t child_pid;  /* who was born */
};

struct col_event_sysexit {
    uint64_t pid; /* a descendant that was not recorded */
    bool has_status;
    int64_t status;     /* wait status, nil if unknown */
    const char *path;   /* its program, nil if unknown */
    const char *reason; /* why it was not recorded */
};

struct col_event_userdata {
    const void *data; /* what the program wrote */
    size_t data_bytes;
};

struct col_event_sample {
    const char *label;             /* what the program called it; empty for periodic ones */
    uint64_t cause;                /* SampleCause */
    uint64_t pid;                  /* process */
    uint64_t user_ns;              /* user CPU time so far */
    uint64_t system_ns;            /* system CPU time so far */
    uint64_t minor_faults;         /* page faults without I/O so far */
    uint64_t major_faults;         /* page faults with I/O so far */
    uint64_t voluntary_switches;   /* voluntary context switches so far */
    uint64_t involuntary_switches; /* involuntary context switches so far */
    uint64_t resident_bytes;       /* resident memory now, nil if unknown, and at cause START */
    uint64_t read_bytes;           /* bytes read by system calls so far (rchar), nil if unknown */
    uint64_t written_bytes;        /* bytes written by system calls so far (wchar), nil if unknown */
    uint64_t peak_resident_bytes;  /* most resident memory so far, nil if unknown, and at cause START */
};

struct col_event_pause {
    uint64_t cause; /* PauseCause */
};

struct col_event_resume {
    uint64_t cause; /* PauseCause */
};

struct col_event_thr_create {
    const char *name;       /* the thread's name then */
    uint64_t start_address; /* function it was started with, 0 if unknown */
};

struct col_event_thr_exit {
    const char *name; /* the thread's name at the end */
    /* user CPU time of the thread; nil, as `name` and `system_ns`, of one whose process was killed */
    uint64_t user_ns;
    uint64_t system_ns; /* system CPU time of the thread */
    uint64_t is_exit;   /* 1 the thread ended; 0 it was alive when the log was closed */
    /* CPU time since its last sample, or of missing ticks, that no sample stands for: readers add it, see `missing` */
    uint64_t pending_ns;
};

struct col_event_message {
    uint64_t severity;   /* 0 note, 1 warning, 2 error, 3 what every view has to say */
    const char *text;    /* one sentence */
    uint64_t count;      /* how often so far */
    const char *subject; /* what it is about, nil if the recorder itself */
};

struct col_event_interpreter {
    const char *name;    /* CPython or HotSpot */
    const char *version; /* 3.11.2 */
    /* first address of the code of the module that holds the interpreter, 0 if unknown */
    uint64_t start;
    uint64_t end;       /* first address after it, 0 if unknown */
    const char *detail; /* why its functions are not recorded, nil if they are */
};

#endif
