/* rows.h -- the samples of a log one by one, each with the node of its stack */
#ifndef COL_ANALYSIS_ROWS_H
#define COL_ANALYSIS_ROWS_H

#include "array.h"
#include "sample_record.h"

/* Zeroed memory is an empty one. */
struct col_rows {
    uint64_t *rows;
    size_t count;
    size_t capacity;
    uint64_t
        *stacks; /* of the record that is read, by number: its node, and whether it is finished; NONE: not counted */
    size_t stack_capacity;
    size_t stack; /* the one that is followed now */
};

/* A record begins: none of its stacks is counted. False if memory is short. */
bool col_rows_begin(struct col_rows *rows, const struct col_sample_record *record);

/* The stack that is followed now counts, and has this node. */
void col_rows_note(struct col_rows *rows, uint32_t node, bool is_finished);

/* Takes the samples from start_ns up to end_ns whose stacks count. False if memory is short. */
bool col_rows_take(struct col_rows *rows, const struct col_sample_record *record, uint32_t thread, uint64_t start_ns,
                   uint64_t end_ns);

void col_rows_free(struct col_rows *rows);

#endif
