/* record.h -- a record on its way into a frame: alone, or with others of a batch */
#ifndef COL_EXPERIMENT_RECORD_H
#define COL_EXPERIMENT_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "experiment/format.h"
#include "experiment/msgpack.h"

struct col_event_head {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint32_t thread;  /* kernel thread id; 0: the whole process */
};

/* Its fields are the struct of its kind (event_fields.h), or what `put` writes of `fields`: field_count values, as often as it is asked and each time the same. */
struct col_record {
    struct col_event_head head;
    enum col_kind kind;
    const void *fields;
    uint32_t field_count;
    void (*put)(struct col_msgpack *out, const void *fields);
};

/* From anywhere, signal handlers included. 0, or -errno as col_log_writer_append; -EFBIG: data longer than a frame. */
int col_record_write(const struct col_record *record);

/* Writes a record of `bytes` where it will lie. -EAGAIN: strings changed their length since that was counted; nothing was written. */
int col_record_write_in_place(const struct col_record *record, size_t bytes);

/* Writes the record into memory; returns the bytes it takes, also if they do not fit. */
size_t col_record_encode(const struct col_record *record, void *start, size_t capacity);

/* See col_event_batch_begin and _finish. */
void col_record_batch_begin(void);
int col_record_batch_finish(void);

#endif
