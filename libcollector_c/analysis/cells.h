/* cells.h -- the samples of each thread by phase and by the way their stacks end */
#ifndef COL_ANALYSIS_CELLS_H
#define COL_ANALYSIS_CELLS_H

#include "array.h"
#include "measure.h"

enum { COL_CELLS_ENDS = 8 };

/* Zeroed memory is an empty one. `rows` are thread, phase, StackEnd and the figures. */
struct col_cells {
    uint64_t *rows;
    size_t count; /* rows */
    size_t capacity;
    uint64_t now[COL_CELLS_ENDS][COL_ANALYSIS_MOST_COLUMNS + 1]; /* of the thread and phase that is read */
};

void col_cells_add(struct col_cells *cells, uint32_t columns, uint32_t end, const uint64_t *figures);

/* The thread is done, or goes on to another phase. False if memory is short. */
bool col_cells_settle(struct col_cells *cells, const struct col_measure *measure, uint32_t thread, uint64_t phase);

#endif
