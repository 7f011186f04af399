/* sample_rows.c -- rows become columns */
#include "experiment/sample_rows.h"

#include <string.h>

_Static_assert(sizeof(struct col_sample_row) == 16, "a row's fixed part");

static struct col_sample_row row_at(const uint8_t *at)
{
    struct col_sample_row row;
    memcpy(&row, at, sizeof row);
    return row;
}

static uint32_t value_of(const struct col_sample_row *row, unsigned column)
{
    switch (column) {
    case COL_COLUMN_TIMES:
        return row->delta;
    case COL_COLUMN_USER:
        return row->user;
    case COL_COLUMN_SYSTEM:
        return row->system;
    default:
        return row->stack;
    }
}

static uint32_t width_for(uint32_t greatest)
{
    return greatest == 0 ? 0 : greatest <= UINT8_MAX ? 1 : greatest <= UINT16_MAX ? 2 : 4;
}

void col_sample_rows_measure(struct col_sample_rows *rows)
{
    uint32_t least[COL_COLUMN_COUNT], most[COL_COLUMN_COUNT] = {0};
    memset(least, 0xff, sizeof least);
    rows->count = rows->stack_count = rows->definition_bytes = 0;
    for (const uint8_t *at = rows->start, *end = at + rows->bytes; at < end; rows->count++) {
        struct col_sample_row row = row_at(at);
        for (unsigned column = 0; column < COL_COLUMN_COUNT; column++) {
            uint32_t value = value_of(&row, column);
            least[column] = value < least[column] ? value : least[column];
            most[column] = value > most[column] ? value : most[column];
        }
        rows->stack_count += row.definition_bytes != 0;
        rows->definition_bytes += row.definition_bytes;
        at += sizeof row + row.definition_bytes;
    }
    for (unsigned column = 0; column < COL_COLUMN_COUNT && rows->count != 0; column++)
        rows->columns[column] = (struct col_sample_column){least[column], width_for(most[column] - least[column])};
}

static uint8_t *put_value(uint8_t *out, uint32_t value, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++, value >>= 8)
        *out++ = (uint8_t)value;
    return out;
}

void col_sample_rows_put_column(const struct col_sample_rows *rows, unsigned column, uint8_t *out)
{
    struct col_sample_column shape = rows->columns[column];
    if (shape.width == 0)
        return;
    for (const uint8_t *at = rows->start, *end = at + rows->bytes; at < end;) {
        struct col_sample_row row = row_at(at);
        out = put_value(out, value_of(&row, column) - shape.base, shape.width);
        at += sizeof row + row.definition_bytes;
    }
}

void col_sample_rows_put_definitions(const struct col_sample_rows *rows, uint8_t *out)
{
    for (const uint8_t *at = rows->start, *end = at + rows->bytes; at < end;) {
        struct col_sample_row row = row_at(at);
        memcpy(out, at + sizeof row, row.definition_bytes);
        out += row.definition_bytes;
        at += sizeof row + row.definition_bytes;
    }
}
