/* rows.c -- the samples of a log one by one, each with the node of its stack */
#include "rows.h"

#include <stdlib.h>
#include <string.h>

bool col_rows_begin(struct col_rows *rows, const struct col_sample_record *record)
{
    size_t count = (size_t)record->fields.stack_count + 1;
    if (!COL_ARRAY_RESERVE(rows->stacks, rows->stack_capacity, count))
        return false;
    memset(rows->stacks, 0xff, count * sizeof *rows->stacks);
    return true;
}

void col_rows_note(struct col_rows *rows, uint32_t node, bool is_finished)
{
    rows->stacks[rows->stack] = (uint64_t)node << 1 | is_finished;
}

bool col_rows_take(struct col_rows *rows, const struct col_sample_record *record, uint32_t thread, uint64_t start_ns,
                   uint64_t end_ns)
{
    size_t width = COL_ROW_VALUES + record->columns;
    if (!COL_ARRAY_RESERVE(rows->rows, rows->capacity, (rows->count + record->fields.count) * width))
        return false;
    uint64_t *first = rows->rows + rows->count * width;
    size_t listed = col_sample_record_list(record, start_ns, end_ns, first + COL_ROW_NODE, width);
    for (size_t i = 0; i < listed; i++) {
        const uint64_t *from = first + i * width;
        uint64_t stack = rows->stacks[from[COL_ROW_NODE]];
        if (stack == UINT64_MAX)
            continue;
        uint64_t *row = rows->rows + rows->count++ * width;
        memmove(row, from, width * sizeof *row);
        row[COL_ROW_THREAD] = thread;
        row[COL_ROW_IS_FINISHED] = stack & 1;
        row[COL_ROW_NODE] = stack >> 1;
    }
    return true;
}

void col_rows_free(struct col_rows *rows)
{
    free(rows->rows);
    free(rows->stacks);
}
