/* sums.c -- rows of figures: whole numbers for one thread, then multiplied and added to those of all */
#include "sums.h"

#include <stdlib.h>
#include <string.h>

static const double ns_per_second = 1e9;

bool col_sums_reserve(struct col_sums *sums, uint32_t columns, size_t rows)
{
    size_t width = (size_t)columns + 1;
    sums->columns = columns;
    if (rows > UINT32_MAX || !COL_ARRAY_RESERVE(sums->now, sums->now_capacity, rows * width) ||
        !COL_ARRAY_RESERVE(sums->totals, sums->totals_capacity, rows * width) ||
        !COL_ARRAY_RESERVE(sums->is_touched, sums->is_touched_capacity, rows) ||
        !COL_ARRAY_RESERVE(sums->touched, sums->touched_capacity, rows))
        return false;
    if (rows > sums->count)
        sums->count = rows;
    return true;
}

static double missing_of(const struct col_measure *measure, const uint64_t *figures, double scale)
{
    double sum = 0;
    for (uint32_t column = 0; column < measure->columns; column++)
        if (measure->kinds[column] & COL_COLUMN_MISSING)
            sum += (double)figures[column] * scale;
    return sum;
}

static double scale_of(uint32_t kind, const double *scales)
{
    return kind & COL_COLUMN_USER ? scales[COL_SCALE_USER] : kind & COL_COLUMN_SYSTEM ? scales[COL_SCALE_SYSTEM] : 1.0;
}

void col_sums_settle(struct col_sums *sums, const struct col_measure *measure, const double *scales)
{
    size_t width = (size_t)sums->columns + 1;
    for (size_t i = 0; i < sums->touched_count; i++) {
        size_t row = sums->touched[i];
        uint64_t *now = sums->now + row * width;
        double *total = sums->totals + row * width;
        for (uint32_t column = 0; column < sums->columns; column++) {
            double value = (double)now[column] * scale_of(measure->kinds[column], scales);
            value += column == 0 ? missing_of(measure, now, scales[COL_SCALE_MISSING]) : 0;
            total[column] += measure->kinds[column] & COL_COLUMN_TIME ? value / ns_per_second : value;
        }
        total[sums->columns] += (double)col_measure_samples(measure, now);
        memset(now, 0, width * sizeof *now);
        sums->is_touched[row] = 0;
    }
    sums->touched_count = 0;
}

void col_sums_clear(struct col_sums *sums)
{
    size_t figures = sums->count * ((size_t)sums->columns + 1);
    if (sums->count > 0) {
        memset(sums->now, 0, figures * sizeof *sums->now);
        memset(sums->totals, 0, figures * sizeof *sums->totals);
        memset(sums->is_touched, 0, sums->count * sizeof *sums->is_touched);
    }
    sums->count = sums->touched_count = 0;
}

void col_sums_free(struct col_sums *sums)
{
    free(sums->now);
    free(sums->totals);
    free(sums->is_touched);
    free(sums->touched);
}
