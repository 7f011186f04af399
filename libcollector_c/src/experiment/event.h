/* event.h -- one function per kind of record: the only C that knows the fields (docs/format.md) */
#ifndef COL_EXPERIMENT_EVENT_H
#define COL_EXPERIMENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiment/format.h"
#include "experiment/record.h"
#include "experiment/sample_rows.h"

/*
 * Each writes one record as a frame of its own: 0 or -errno as col_log_writer_append. Strings may be NULL, which is nil.
 * From anywhere, signal handlers included, but for col_event_initialize and batches.
 */

#define COL_EVENT_UNKNOWN UINT64_MAX /* a reading that could not be had; nil in the record */

struct col_event_initialize {
    uint64_t wall_ns;
    uint32_t pid, ppid, image, uid;
    uint64_t cpu_count; /* or COL_EVENT_UNKNOWN */
    uint64_t page_bytes;
    const char *host, *machine, *kernel;
    const char *executable, *directory, *library_version;
    const char *const *arguments; /* cut where they would fill more than a quarter of a frame */
    size_t argument_count;
    const char *const *options;
    size_t option_count;
    uint64_t user_ns, system_ns;
    uint64_t start_ticks, pid_namespace; /* or COL_EVENT_UNKNOWN */
    uint64_t rank, local_rank;           /* or COL_EVENT_UNKNOWN */
};
int col_event_initialize(struct col_event_head head, const struct col_event_initialize *initialize);

struct col_event_closelog {
    uint32_t reason;
    uint64_t sample_count, frame_count, drop_count, user_ns, system_ns;
};
int col_event_closelog(struct col_event_head head, const struct col_event_closelog *closelog);

int col_event_dropnotify(struct col_event_head head, uint32_t cause, uint64_t count);

struct col_event_mappingchange {
    uint32_t action, map_kind;
    uint64_t start, end, bias, file_offset;
    const char *path;
    const void *build_id; /* NULL: none, which is an empty one */
    size_t build_id_bytes;
    const char *name, *alias, *source; /* of a dynamic function */
    const void *lines, *code;          /* of a dynamic function, NULL: nil */
    size_t lines_bytes, code_bytes;
    const char *copy; /* of a dynamic module */
    bool has_file;    /* of a file without a build id, by which else it could not be told from its successor: */
    uint64_t file_bytes, file_changed_ns;
    uint32_t text_checksum;
    uint32_t first_line, line_table; /* of Python code; COL_LINES_PAIRS of a dynamic function */
};
int col_event_mappingchange(struct col_event_head head, const struct col_event_mappingchange *change);

/* The rows of an open frame as columns; `rows` are measured here. */
struct col_event_pcsample {
    uint32_t source, unit_ns;
    struct col_sample_rows rows;
};
int col_event_pcsample(struct col_event_head head, struct col_event_pcsample *pcsample);

struct col_event_pmcallocate {
    uint32_t source;
    const char *name, *clock, *unit;
    uint64_t period_ns, effective_period_ns;
    const char *detail;
    const char *const *attributes; /* of a metric, `name=value` */
    size_t attribute_count;
    const char *const *values; /* what its samples stand for, `name unit`; none of a metric */
    size_t value_count;        /* at most COL_SAMPLE_MAX_VALUES */
    const char *counted_as;    /* the metric that counts its samples; NULL: samples */
};
int col_event_pmcallocate(struct col_event_head head, const struct col_event_pmcallocate *allocate);

int col_event_pmcattach(struct col_event_head head, uint32_t source, uint32_t pid,
                        uint64_t value); /* `value`: of the source, when it was attached */
int col_event_pmcdetach(struct col_event_head head, uint32_t source, uint32_t pid);
int col_event_procexec(struct col_event_head head, uint32_t pid, uint64_t entry, const char *path);
int col_event_procfork(struct col_event_head head, uint32_t parent_pid, uint32_t child_pid);

struct col_event_procexit {
    uint32_t pid, source;
    uint64_t value, user_ns, system_ns;
    bool has_status;
    int status;
};
int col_event_procexit(struct col_event_head head, const struct col_event_procexit *procexit);

int col_event_sysexit(struct col_event_head head, uint32_t pid, const int *status, const char *path,
                      const char *reason); /* status may be NULL */
int col_event_userdata(struct col_event_head head, const void *data,
                       size_t bytes); /* -EFBIG: more than a frame holds */

struct col_event_sample {
    const char *label;
    uint32_t cause, pid;
    uint64_t user_ns, system_ns;
    uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
    uint64_t resident_bytes, read_bytes, written_bytes; /* or COL_EVENT_UNKNOWN */
};
int col_event_sample(struct col_event_head head, const struct col_event_sample *sample);

int col_event_pause(struct col_event_head head, uint32_t cause);
int col_event_resume(struct col_event_head head, uint32_t cause);
int col_event_thr_create(struct col_event_head head, const char *name, uint64_t start_address);
int col_event_thr_exit(struct col_event_head head, const char *name, uint64_t user_ns, uint64_t system_ns,
                       uint64_t pending_ns, bool is_exit);

/* PMCALLOCATE and PMCATTACH of each, in one frame. */
int col_event_sources(struct col_event_head head, const struct col_event_pmcallocate *sources, size_t count,
                      uint32_t pid);

/* Values of metrics, and their ends, are gathered in an open frame (experiment/open_records.h): one at a time may write it, and it reaches the log with the flush at the latest. */
struct col_event_value {
    enum { COL_EVENT_NO_VALUE, COL_EVENT_WHOLE, COL_EVENT_REAL } type;
    union {
        uint64_t whole;
        double real;
    } is;
};
struct col_event_metric {
    uint32_t source; /* of the first value; the next ones are those of the sources after it */
    uint64_t interval_ns;
    const struct col_event_value *values;
    uint32_t value_count; /* 1 to COL_METRIC_MAX_VALUES */
    const struct col_event_value *
        before; /* those of the last record with several values, if that had the same source and at least as many; or NULL */
    uint32_t before_frame; /* col_event_metric_frame() behind that record */
};
int col_event_metric(struct col_event_head head, const struct col_event_metric *metric);
int col_event_metric_end(struct col_event_head head, uint32_t source, uint32_t pid); /* PMCDETACH */
uint32_t col_event_metric_frame(void);
int col_event_metrics_flush(void);

int col_event_message(struct col_event_head head, uint32_t severity, const char *text, uint64_t count,
                      const char *subject);

/* The code of the module that holds it lies from `start` to `end`, both 0 if that is unknown; `detail` says why its functions are not recorded, NULL if they are. */
int col_event_interpreter(struct col_event_head head, const char *name, const char *version, uint64_t start,
                          uint64_t end, const char *detail);

/*
 * Between begin and finish the records of the calling thread are gathered into few frames: for the many modules of a start. From ordinary code.
 * One thread at a time; a second one's records, and those of a signal handler that comes between, are written one by one as always.
 * A record of a batch may be lost after its function has answered 0, if finish cannot write: finish answers 0 or -errno.
 */
void col_event_batch_begin(void);
int col_event_batch_finish(void);

#endif
