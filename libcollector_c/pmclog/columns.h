/* columns.h -- a run of unsigned integers as it lies in the log: a base and a little-endian array */
#ifndef COL_PMCLOG_COLUMNS_H
#define COL_PMCLOG_COLUMNS_H

#include "cursor.h"

#include <endian.h>
#include <string.h>

/* Value i is base + the little-endian integer at bytes + i * width, cut to the mask. */
struct col_column {
    const uint8_t *bytes;
    size_t width;
    uint64_t mask;
    uint64_t base;
};

/* Reads `[base, bytes]`, a column of `count` values; false if it is not one. Eight more bytes behind it must be readable. */
bool col_columns_read(struct col_cursor *record, uint64_t count, struct col_column *column);

/* Reads an array of at most `most` of them. */
bool col_columns_read_array(struct col_cursor *record, uint64_t count, uint32_t most, struct col_column *columns,
                            size_t *column_count);

/* What does not fit is all ones, and stays that in every sum and product. */
static inline uint64_t col_columns_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t col_columns_product(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t col_columns_value(const struct col_column *column, size_t row)
{
    uint64_t word;
    memcpy(&word, column->bytes + row * column->width, sizeof word);
    return col_columns_sum(column->base, le64toh(word) & column->mask);
}

#endif
