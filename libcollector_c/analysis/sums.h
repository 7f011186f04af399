/* sums.h -- rows of figures: whole numbers for one thread, then multiplied and added to those of all */
#ifndef COL_ANALYSIS_SUMS_H
#define COL_ANALYSIS_SUMS_H

#include "array.h"
#include "measure.h"

#include <stdint.h>

/* Zeroed memory is an empty one, without columns. A row has its columns, and behind them a number of samples. */
struct col_sums {
    uint32_t columns;
    size_t count;  /* rows */
    uint64_t *now; /* of the thread that is read */
    double *totals;
    uint8_t *is_touched;
    uint32_t *touched;
    size_t touched_count;
    size_t now_capacity, totals_capacity, is_touched_capacity, touched_capacity;
};

/* Makes room for rows; new ones are zero. False if memory is short. */
bool col_sums_reserve(struct col_sums *sums, uint32_t columns, size_t rows);

/* Adds a row of figures. */
static inline void col_sums_add(struct col_sums *sums, uint32_t row, const uint64_t *figures)
{
    if (!sums->is_touched[row]) {
        sums->is_touched[row] = 1;
        sums->touched[sums->touched_count++] = row;
    }
    uint64_t *into = sums->now + (size_t)row * (sums->columns + 1);
    for (uint32_t column = 0; column <= sums->columns; column++)
        into[column] += figures[column];
}

/* The thread is done, whose `scales` they are (struct col_question): its figures are added to those of all. */
void col_sums_settle(struct col_sums *sums, const struct col_measure *measure, const double *scales);

/* Forgets everything but its memory. */
void col_sums_clear(struct col_sums *sums);

void col_sums_free(struct col_sums *sums);

#endif
