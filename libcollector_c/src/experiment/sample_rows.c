/* sample_rows.c -- rows become columns */
#include "experiment/sample_rows.h"

#include <string.h>

static uint32_t half_at(const uint8_t *at)
{
    uint16_t half;
    memcpy(&half, at, sizeof half);
    return half;
}

static uint32_t value_at(const struct col_sample_rows *rows, const uint8_t *row, unsigned column)
{
    uint32_t value;
    if (column > rows->value_count)
        return half_at(row + 4 * column);
    memcpy(&value, row + 4 * column, sizeof value);
    return value;
}

static uint32_t definition_bytes_of(const struct col_sample_rows *rows, const uint8_t *row)
{
    return half_at(row + COL_SAMPLE_ROW_BYTES(rows->value_count) - 2);
}

static const uint8_t *row_after(const struct col_sample_rows *rows, const uint8_t *row)
{
    return row + COL_SAMPLE_ROW_BYTES(rows->value_count) + definition_bytes_of(rows, row);
}

void col_sample_row_put(uint8_t *out, uint32_t delta, const uint32_t *values, uint32_t value_count, uint32_t stack,
                        size_t definition_bytes)
{
    uint16_t tail[2] = {(uint16_t)stack, (uint16_t)definition_bytes};
    memcpy(out, &delta, sizeof delta);
    memcpy(out + 4, values, 4 * (size_t)value_count);
    memcpy(out + 4 + 4 * (size_t)value_count, tail, sizeof tail);
}

static uint32_t width_for(uint32_t greatest)
{
    return greatest == 0 ? 0 : greatest <= UINT8_MAX ? 1 : greatest <= UINT16_MAX ? 2 : 4;
}

void col_sample_rows_measure(struct col_sample_rows *rows)
{
    unsigned column_count = rows->value_count + 2;
    uint32_t least[COL_SAMPLE_MAX_VALUES + 2], most[COL_SAMPLE_MAX_VALUES + 2] = {0};
    memset(least, 0xff, sizeof least);
    rows->count = rows->stack_count = rows->definition_bytes = 0;
    for (const uint8_t *row = rows->start, *end = row + rows->bytes; row < end; row = row_after(rows, row)) {
        for (unsigned column = 0; column < column_count; column++) {
            uint32_t value = value_at(rows, row, column);
            least[column] = value < least[column] ? value : least[column];
            most[column] = value > most[column] ? value : most[column];
        }
        uint32_t definition_bytes = definition_bytes_of(rows, row);
        rows->count++;
        rows->stack_count += definition_bytes != 0;
        rows->definition_bytes += definition_bytes;
    }
    for (unsigned column = 0; column < column_count && rows->count != 0; column++)
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
    for (const uint8_t *row = rows->start, *end = row + rows->bytes; row < end; row = row_after(rows, row))
        out = put_value(out, value_at(rows, row, column) - shape.base, shape.width);
}

void col_sample_rows_put_definitions(const struct col_sample_rows *rows, uint8_t *out)
{
    for (const uint8_t *row = rows->start, *end = row + rows->bytes; row < end; row = row_after(rows, row)) {
        uint32_t bytes = definition_bytes_of(rows, row);
        memcpy(out, row + COL_SAMPLE_ROW_BYTES(rows->value_count), bytes);
        out += bytes;
    }
}
