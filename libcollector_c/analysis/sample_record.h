/* sample_record.h -- the columns of one PCSAMPLE record, and the weight of each of its stacks */
#ifndef COL_ANALYSIS_SAMPLE_RECORD_H
#define COL_ANALYSIS_SAMPLE_RECORD_H

#include "seam.h"

#include "../pmclog/sample_fields.h"

_Static_assert(COL_ANALYSIS_MOST_VALUES == COL_SAMPLE_MAX_VALUES, "a record's values fit");

struct col_sample_record {
    uint64_t time_ns;
    uint64_t thread;
    struct col_sample_fields fields; /* stack_count is no more than the definitions can hold */
    uint32_t columns;                /* of the figures; this and the next two: col_sample_record_lay_out */
    uint32_t counted_in;
    struct col_placed_value {
        uint32_t value; /* its position */
        uint32_t column;
        uint64_t unit;
    } placed[COL_ANALYSIS_MOST_VALUES];
    uint32_t placed_count;
};

/* Takes the record that is all of `bytes`, behind which eight more must be readable; false if it is no PCSAMPLE
   record. */
bool col_sample_record_read(struct col_sample_record *record, const uint8_t *bytes, size_t count);

/* Says where its values go among `columns`; before the functions that give figures. */
void col_sample_record_lay_out(struct col_sample_record *record, const struct col_layout *layout, uint32_t columns);

/* Its numbers: COL_HEAD_NUMBERS of them. */
void col_sample_record_describe(const struct col_sample_record *record, uint64_t offset, uint64_t *head);

/* The time of its last sample. */
uint64_t col_sample_record_last_ns(const struct col_sample_record *record);

/* Adds each sample from start_ns up to end_ns to the row of its stack: columns, and 1. The row behind the last is for
   unknown stacks. */
void col_sample_record_weigh(const struct col_sample_record *record, uint64_t start_ns, uint64_t end_ns,
                             uint64_t *rows);

/* Lists each sample from start_ns up to end_ns: the number of its stack (that behind the last if it is unknown), its
   time and its values at the beginning of a row of `stride` numbers. There is room for all; how many there are. */
size_t col_sample_record_list(const struct col_sample_record *record, uint64_t start_ns, uint64_t end_ns,
                              uint64_t *rows, size_t stride);

#endif
