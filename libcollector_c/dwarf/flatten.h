/* flatten.h -- from ranges inside ranges to one row of starts */
#ifndef COL_DWARF_FLATTEN_H
#define COL_DWARF_FLATTEN_H

#include "sections.h"

struct col_dwarf_span {
    uint64_t low;
    uint64_t high;
    uint32_t node;
    uint32_t depth;
};

struct col_dwarf_row {
    uint64_t *starts;
    uint32_t *nodes;
    size_t count, start_capacity, node_capacity;
};

/* Sorts the spans, and writes where which of them is the innermost. Of spans that cut each other the later one holds to
   its end. False without memory. */
bool col_dwarf_flatten(struct col_dwarf_span *spans, size_t count, struct col_dwarf_row *row);

#endif
