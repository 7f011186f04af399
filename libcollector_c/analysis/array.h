/* array.h -- memory that grows: the one place where the analysis allocates */
#ifndef COL_ANALYSIS_ARRAY_H
#define COL_ANALYSIS_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `needed` items of item_bytes in *items; new ones are zero. False if memory is short, and everything
   is as it was. */
bool col_array_reserve(void **items, size_t *capacity, size_t needed, size_t item_bytes);

#define COL_ARRAY_RESERVE(items, capacity, needed)                                                                     \
    col_array_reserve((void **)&(items), &(capacity), (needed), sizeof *(items))

#endif
