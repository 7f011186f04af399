/* flatten.c -- from ranges inside ranges to one row of starts: each range lies over those around it */
#include "flatten.h"

#include "../analysis/array.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const struct col_dwarf_span *first = left, *second = right;
    if (first->low != second->low)
        return first->low < second->low ? -1 : 1;
    if (first->depth != second->depth)
        return first->depth < second->depth ? -1 : 1;
    return (first->node > second->node) - (first->node < second->node);
}

static bool add(struct col_dwarf_row *row, uint64_t start, uint32_t node)
{
    if (row->count > 0 && row->starts[row->count - 1] == start)
        row->count--;
    if (row->count > 0 ? row->nodes[row->count - 1] == node : node == COL_DWARF_NOTHING)
        return true;
    if (!COL_ARRAY_RESERVE(row->starts, row->start_capacity, row->count + 1) ||
        !COL_ARRAY_RESERVE(row->nodes, row->node_capacity, row->count + 1))
        return false;
    row->starts[row->count] = start;
    row->nodes[row->count++] = node;
    return true;
}

/* Takes what has ended by `until` off the pile. */
static bool close(struct col_dwarf_row *row, const struct col_dwarf_span **pile, size_t *height, uint64_t until)
{
    while (*height > 0 && pile[*height - 1]->high <= until) {
        uint64_t end = pile[--*height]->high;
        while (*height > 0 && pile[*height - 1]->high <= end)
            --*height;
        if (!add(row, end, *height > 0 ? pile[*height - 1]->node : COL_DWARF_NOTHING))
            return false;
    }
    return true;
}

bool col_dwarf_flatten(struct col_dwarf_span *spans, size_t count, struct col_dwarf_row *row)
{
    row->count = 0;
    if (count == 0)
        return true;
    const struct col_dwarf_span **pile = calloc(count, sizeof(struct col_dwarf_span *));
    size_t height = 0;
    bool is_done = pile != NULL;
    qsort(spans, count, sizeof *spans, compare);
    for (size_t i = 0; is_done && i < count; i++) {
        is_done = close(row, pile, &height, spans[i].low) && add(row, spans[i].low, spans[i].node);
        pile[height++] = &spans[i];
    }
    is_done = is_done && close(row, pile, &height, UINT64_MAX);
    free(pile);
    return is_done;
}
