/* open_rows.h -- the rows of an open frame as the columns of samples */
#ifndef COL_PMCLOG_OPEN_ROWS_H
#define COL_PMCLOG_OPEN_ROWS_H

#include "samples.h"

/* How many there are before the bytes end, or stop making sense. */
size_t col_open_rows_count(struct col_cursor rows, size_t value_count);

/* Their columns and stacks; time, unit, thread, source and what it declares are the caller's. 0 or -ENOMEM. What the columns point into comes into *kept, in place of
   what was there. */
int col_open_rows_take(struct col_cursor rows, size_t value_count, uint8_t **kept, struct col_samples *samples);

#endif
