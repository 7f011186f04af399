/* event.h -- the functions that write records: one per kind (event_kinds.h), and what is more than a record's fields */
#ifndef COL_EXPERIMENT_EVENT_H
#define COL_EXPERIMENT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiment/event_kinds.h"
#include "experiment/sample_rows.h"

/*
 * col_event_KIND(head, &(struct col_event_KIND){...}) writes one record as a frame of its own: 0 or -errno as col_record_write.
 * What is NULL is nil, and so is a number that is COL_EVENT_UNKNOWN or that a flag of its struct does not say to be known.
 * From anywhere, signal handlers included, but for col_event_initialize and batches.
 */

#define COL_EVENT_UNKNOWN UINT64_MAX /* a reading that could not be had; nil in the record */

/* Sets the version as well. Arrays of texts are cut where they would fill more than a quarter of a frame. */
int col_event_initialize(struct col_event_head head, const struct col_event_initialize *event);

/* The rows of an open frame as columns; `rows` are measured here. */
struct col_event_pcsample {
    uint32_t source, unit_ns;
    struct col_sample_rows rows;
};
int col_event_pcsample(struct col_event_head head, struct col_event_pcsample *pcsample);

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
int col_event_metric_end(struct col_event_head head, const struct col_event_pmcdetach *end);
uint32_t col_event_metric_frame(void);
int col_event_metrics_flush(void);

/*
 * Between begin and finish the records of the calling thread are gathered into few frames: for the many modules of a start. From ordinary code.
 * One thread at a time; a second one's records, and those of a signal handler that comes between, are written one by one as always.
 * A record of a batch may be lost after its function has answered 0, if finish cannot write: finish answers 0 or -errno.
 */
void col_event_batch_begin(void);
int col_event_batch_finish(void);

#endif
