/* columns.c -- a run of unsigned integers as it lies in the log: a base and a little-endian array */
#include "columns.h"

bool col_columns_read(struct col_cursor *record, uint64_t count, struct col_column *column)
{
    uint32_t parts;
    struct col_extent data;
    if (!col_cursor_read_array(record, &parts) || parts != 2 || !col_cursor_read_unsigned(record, &column->base) ||
        !col_cursor_read_data(record, &data))
        return false;
    size_t width = count > 0 ? data.count / (size_t)count : 0;
    if (width * count != data.count || width > 8 || (width & (width - 1)) != 0)
        return false;
    column->bytes = data.bytes;
    column->width = width;
    column->mask = width == 0 ? 0 : ~UINT64_C(0) >> (64 - 8 * width);
    return true;
}

bool col_columns_read_array(struct col_cursor *record, uint64_t count, uint32_t most, struct col_column *columns,
                            size_t *column_count)
{
    uint32_t found;
    if (!col_cursor_read_array(record, &found) || found > most)
        return false;
    for (uint32_t i = 0; i < found; i++)
        if (!col_columns_read(record, count, &columns[i]))
            return false;
    *column_count = found;
    return true;
}
