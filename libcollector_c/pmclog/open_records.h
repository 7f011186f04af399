/* open_records.h -- what lies in the open frames of a log whose process is gone (docs/format.md, Open frames) */
#ifndef COL_PMCLOG_OPEN_RECORDS_H
#define COL_PMCLOG_OPEN_RECORDS_H

#include "pmclog.h"
#include "record.h"

#include <stdbool.h>
#include <sys/types.h>

/* By what a record of an open frame is known among the frames, where it may have been written as well. */
struct col_record_name {
    uint64_t time_ns;
    uint32_t kind;
    uint32_t thread;
    uint32_t source; /* all ones: none */
};

enum col_open_form {
    COL_OPEN_ENCODED, /* a record as in a frame */
    COL_OPEN_VALUE,   /* one value of a METRIC record of several */
    COL_OPEN_ROWS,    /* samples */
    COL_OPEN_CALL     /* the name of a call into a plugin that has not come back */
};

struct col_open_record {
    struct col_record_name name;
    enum col_open_form form;
    bool is_written;         /* among the frames: not to be told again */
    size_t place;            /* in the order of the slots */
    struct col_cursor bytes; /* ENCODED, ROWS, CALL */
    uint32_t unit_ns;        /* ROWS */
    uint32_t value_count;    /* ROWS */
    struct pmclog_ev value;  /* VALUE */
};

/* Zeroed memory is an empty set. */
struct col_open_records {
    struct col_open_record *records;
    size_t count;
    size_t capacity;
    size_t *index; /* by hash of the name: place + 1 */
    size_t index_capacity;
    uint8_t **slots; /* what `bytes` point into */
    size_t slot_count;
    size_t slot_capacity;
    size_t next;
};

/* Takes all that the slots from `area` on hold. 0 or -errno. */
int col_open_records_load(struct col_open_records *set, int fd, off_t area);

/* The record of that name, or NULL. Not after col_open_records_sort. */
struct col_open_record *col_open_records_find(const struct col_open_records *set, const struct col_record_name *name);

/* By time and thread; `next` is the first. The index holds no longer. */
void col_open_records_sort(struct col_open_records *set);

/* What an event is known by. */
struct col_record_name col_open_records_name(const struct pmclog_ev *ev);

void col_open_records_free(struct col_open_records *set);

#endif
