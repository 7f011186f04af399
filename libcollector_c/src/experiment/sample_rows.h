/* sample_rows.h -- the samples of an open frame, row by row, and how rows become columns */
#ifndef COL_EXPERIMENT_SAMPLE_ROWS_H
#define COL_EXPERIMENT_SAMPLE_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* The fixed part of a row as it lies in the slot (docs/format.md, Open frames); a definition of that many bytes follows. */
struct col_sample_row {
    uint32_t delta, user, system; /* in the frame's unit */
    uint16_t stack, definition_bytes;
};

/* A column: `base` and so many bytes a value. */
struct col_sample_column {
    uint32_t base;
    uint32_t width;
};

enum { COL_COLUMN_TIMES, COL_COLUMN_USER, COL_COLUMN_SYSTEM, COL_COLUMN_STACKS, COL_COLUMN_COUNT };

struct col_sample_rows {
    const uint8_t *start;
    uint32_t bytes;
    uint32_t count;
    uint32_t stack_count;
    uint32_t definition_bytes;
    struct col_sample_column columns[COL_COLUMN_COUNT];
};

/* From anywhere, signal handlers included. */

/* Finds out all about the rows but `start` and `bytes`, which the caller has set. */
void col_sample_rows_measure(struct col_sample_rows *rows);

/* Writes a column's values: count * width bytes. */
void col_sample_rows_put_column(const struct col_sample_rows *rows, unsigned column, uint8_t *out);

/* Writes all definitions: definition_bytes. */
void col_sample_rows_put_definitions(const struct col_sample_rows *rows, uint8_t *out);

#endif
