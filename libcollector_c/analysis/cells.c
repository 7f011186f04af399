/* cells.c -- the samples of each thread by phase and by the way their stacks end */
#include "cells.h"

#include <string.h>

void col_cells_add(struct col_cells *cells, uint32_t columns, uint32_t end, const uint64_t *figures)
{
    for (uint32_t column = 0; column <= columns; column++)
        cells->now[end][column] += figures[column];
}

bool col_cells_settle(struct col_cells *cells, const struct col_measure *measure, uint32_t thread, uint64_t phase)
{
    uint32_t columns = measure->columns;
    size_t width = (size_t)columns + 4;
    for (uint32_t end = 0; end < COL_CELLS_ENDS; end++) {
        if (cells->now[end][columns] == 0)
            continue;
        if (!COL_ARRAY_RESERVE(cells->rows, cells->capacity, (cells->count + 1) * width))
            return false;
        uint64_t *row = cells->rows + cells->count++ * width;
        row[0] = thread;
        row[1] = phase;
        row[2] = end;
        memcpy(row + 3, cells->now[end], columns * sizeof *row);
        row[3 + columns] = col_measure_samples(measure, cells->now[end]);
        memset(cells->now[end], 0, sizeof cells->now[end]);
    }
    return true;
}
