/* sample_rows.h -- the samples of an open frame, row by row, and how rows become columns */
#ifndef COL_EXPERIMENT_SAMPLE_ROWS_H
#define COL_EXPERIMENT_SAMPLE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "experiment/format.h"

/*
 * A row as it lies in the slot (docs/format.md, Open frames), little-endian:
 *
 *     time delta u32 | value u32 ... | stack u16 | definition bytes u16 | definition
 */
#define COL_SAMPLE_ROW_BYTES(value_count) (4u + 4u * (uint32_t)(value_count) + 4u)
#define COL_SAMPLE_ROW_MAX_BYTES COL_SAMPLE_ROW_BYTES(COL_SAMPLE_MAX_VALUES)

/* A column: `base` and so many bytes a value. */
struct col_sample_column {
    uint32_t base;
    uint32_t width;
};

/* Columns are numbered as they lie in a row: 0 the times, 1 to value_count the values, then the stacks. */
struct col_sample_rows {
    const uint8_t *start;
    uint32_t bytes;
    uint32_t value_count;
    uint32_t count;
    uint32_t stack_count;
    uint32_t definition_bytes;
    struct col_sample_column columns[COL_SAMPLE_MAX_VALUES + 2];
};

/* From anywhere, signal handlers included. */

/* Writes the fixed part of a row: COL_SAMPLE_ROW_BYTES. */
void col_sample_row_put(uint8_t *out, uint32_t delta, const uint32_t *values, uint32_t value_count, uint32_t stack,
                        size_t definition_bytes);

/* Finds out all about the rows but `start`, `bytes` and `value_count`, which the caller has set. */
void col_sample_rows_measure(struct col_sample_rows *rows);

/* Writes a column's values: count * width bytes. */
void col_sample_rows_put_column(const struct col_sample_rows *rows, unsigned column, uint8_t *out);

/* Writes all definitions: definition_bytes. */
void col_sample_rows_put_definitions(const struct col_sample_rows *rows, uint8_t *out);

#endif
