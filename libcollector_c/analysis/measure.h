/* measure.h -- what the columns of all figures are */
#ifndef COL_ANALYSIS_MEASURE_H
#define COL_ANALYSIS_MEASURE_H

#include "seam.h"

/* Figures have `columns` of these kinds (enum col_column_kind), and behind them the number of samples of all sources. */
struct col_measure {
    uint32_t columns;
    uint32_t kinds[COL_ANALYSIS_MOST_COLUMNS];
};

/* The samples that are counted as such: all but those that a column counts. */
static inline uint64_t col_measure_samples(const struct col_measure *measure, const uint64_t *figures)
{
    uint64_t samples = figures[measure->columns];
    for (uint32_t column = 0; column < measure->columns; column++)
        if (measure->kinds[column] & COL_COLUMN_COUNT)
            samples -= figures[column];
    return samples;
}

#endif
