/* sample_fields.h -- the fields of a PCSAMPLE record; written by format_files.py from collector/format.py */
#ifndef COL_PMCLOG_SAMPLE_FIELDS_H
#define COL_PMCLOG_SAMPLE_FIELDS_H
/* clang-format off */

#include "columns.h"

#include "experiment/format.h"

/* More samples than this in one record are not believed: columns of width 0 make any number of them out of nothing.
   The recorder writes at most 1000. */
#define COL_SAMPLE_FIELDS_MAX_COUNT 65536u

struct col_sample_fields {
    uint64_t source;         /* id given by PMCALLOCATE */
    uint64_t count;          /* samples in this record, n */
    uint64_t unit_ns;        /* unit of the times, and of values in ns */
    struct col_column times; /* time of sample i = time + unit_ns * (times[0] + ... + times[i]) */
    size_t value_count;
    struct col_column values[COL_SAMPLE_MAX_VALUES];
    struct col_column stacks;      /* index of sample i's stack in the definitions */
    uint64_t stack_count;          /* stacks defined */
    struct col_extent definitions; /* the stacks, see below */
};

enum { COL_SAMPLE_FIELDS = 8 };

/* Behind the record's head; false if there is not what the format says. Eight more bytes behind the record must be readable. */
static inline bool col_sample_fields_read(struct col_cursor *record, struct col_sample_fields *fields)
{
    return col_cursor_read_unsigned(record, &fields->source) &&
           col_cursor_read_unsigned(record, &fields->count) && fields->count <= COL_SAMPLE_FIELDS_MAX_COUNT &&
           col_cursor_read_unsigned(record, &fields->unit_ns) &&
           col_columns_read(record, fields->count, &fields->times) &&
           col_columns_read_array(record, fields->count, COL_SAMPLE_MAX_VALUES, fields->values, &fields->value_count) &&
           col_columns_read(record, fields->count, &fields->stacks) &&
           col_cursor_read_unsigned(record, &fields->stack_count) &&
           col_cursor_read_data(record, &fields->definitions);
}

#endif
