/* open_rows.c -- the rows of an open frame as the columns of samples */
#include "open_rows.h"

#include "stream.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t half_at(const uint8_t *bytes)
{
    uint16_t half;
    memcpy(&half, bytes, sizeof half);
    return le16toh(half);
}

/* A row: time delta, values (4 bytes each), stack, bytes of definition (2 each), definition. */
static size_t fixed_bytes(size_t value_count)
{
    return 4 + 4 * value_count + 4;
}

/* The row behind the one at `at`, NULL where there is none. */
static const uint8_t *next_row(const uint8_t *at, const uint8_t *end, size_t row_bytes)
{
    if ((size_t)(end - at) < row_bytes || (size_t)(end - at) - row_bytes < half_at(at + row_bytes - 2))
        return NULL;
    return at + row_bytes + half_at(at + row_bytes - 2);
}

size_t col_open_rows_count(struct col_cursor rows, size_t value_count)
{
    size_t count = 0;
    while ((rows.at = next_row(rows.at, rows.end, fixed_bytes(value_count))) != NULL)
        count++;
    return count;
}

static struct col_column column_of(const uint8_t *bytes, size_t width)
{
    return (struct col_column){bytes, width, ~UINT64_C(0) >> (64 - 8 * width), 0};
}

int col_open_rows_take(struct col_cursor rows, size_t value_count, uint8_t **kept, struct col_samples *samples)
{
    size_t count = col_open_rows_count(rows, value_count), row_bytes = fixed_bytes(value_count);
    size_t stack_count = 0, defined = 0;
    uint8_t *columns = calloc(1, (size_t)(rows.end - rows.at) + COL_STREAM_SLACK_BYTES);
    if (!columns)
        return -ENOMEM;
    free(*kept);
    *kept = columns;
    size_t stacks_at = 4 * (1 + value_count) * count;
    uint8_t *definitions = columns + stacks_at + 2 * count;
    const uint8_t *row = rows.at, *next;
    for (size_t i = 0; (next = next_row(row, rows.end, row_bytes)) != NULL; row = next, i++) {
        for (size_t column = 0; column <= value_count; column++)
            memcpy(columns + 4 * (column * count + i), row + 4 * column, 4);
        memcpy(columns + stacks_at + 2 * i, row + row_bytes - 4, 2);
        size_t bytes = (size_t)(next - row) - row_bytes;
        memcpy(definitions + defined, row + row_bytes, bytes);
        defined += bytes;
        stack_count += bytes > 0;
    }
    if (!col_stacks_define(&samples->stacks, stack_count, definitions, defined))
        return -ENOMEM;
    samples->fields.times = column_of(columns, 4);
    for (size_t i = 0; i < value_count; i++)
        samples->fields.values[i] = column_of(columns + 4 * (1 + i) * count, 4);
    samples->fields.value_count = value_count;
    samples->fields.stacks = column_of(columns + stacks_at, 2);
    samples->next = 0;
    samples->count = count;
    return 0;
}
