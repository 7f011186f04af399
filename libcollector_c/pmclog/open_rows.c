/* open_rows.c -- the rows of an open frame as the columns of samples */
#include "open_rows.h"

#include "stream.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_BYTES = 16 };

static uint32_t half_at(const uint8_t *bytes)
{
    uint16_t half;
    memcpy(&half, bytes, sizeof half);
    return le16toh(half);
}

/* The row at `at` and the one behind it, NULL where there is none. A row: time delta, user, system (4 bytes each), stack, bytes of definition (2 each), definition. */
static const uint8_t *next_row(const uint8_t *at, const uint8_t *end)
{
    if ((size_t)(end - at) < ROW_BYTES || (size_t)(end - at) - ROW_BYTES < half_at(at + 14))
        return NULL;
    return at + ROW_BYTES + half_at(at + 14);
}

size_t col_open_rows_count(struct col_cursor rows)
{
    size_t count = 0;
    while ((rows.at = next_row(rows.at, rows.end)) != NULL)
        count++;
    return count;
}

static struct col_column column_of(const uint8_t *bytes, size_t width)
{
    return (struct col_column){bytes, width, ~UINT64_C(0) >> (64 - 8 * width), 0};
}

int col_open_rows_take(struct col_cursor rows, uint8_t **kept, struct col_samples *samples)
{
    size_t count = col_open_rows_count(rows);
    size_t stack_count = 0, defined = 0;
    uint8_t *columns = calloc(1, (size_t)(rows.end - rows.at) + COL_STREAM_SLACK_BYTES);
    if (!columns)
        return -ENOMEM;
    free(*kept);
    *kept = columns;
    uint8_t *definitions = columns + 14 * count; /* of the 16 bytes of a row, two count those of its definition */
    const uint8_t *row = rows.at, *next;
    for (size_t i = 0; (next = next_row(row, rows.end)) != NULL; row = next, i++) {
        for (size_t column = 0; column < 3; column++)
            memcpy(columns + 4 * (column * count + i), row + 4 * column, 4);
        memcpy(columns + 12 * count + 2 * i, row + 12, 2);
        size_t bytes = (size_t)(next - row) - ROW_BYTES;
        memcpy(definitions + defined, row + ROW_BYTES, bytes);
        defined += bytes;
        stack_count += bytes > 0;
    }
    if (!col_stacks_define(&samples->stacks, stack_count, definitions, defined))
        return -ENOMEM;
    samples->times = column_of(columns, 4);
    samples->user = column_of(columns + 4 * count, 4);
    samples->system = column_of(columns + 8 * count, 4);
    samples->places = column_of(columns + 12 * count, 2);
    samples->next = 0;
    samples->count = count;
    return 0;
}
