/* sort.h -- puts numbers into order, with what belongs to them */
#ifndef COL_ELF_SORT_H
#define COL_ELF_SORT_H

#include <stddef.h>
#include <stdint.h>

struct col_keyed {
    uint64_t key;
    uint64_t value;
};

/* By the keys, and of equal ones by the values. */
void col_sort_keyed(struct col_keyed *items, size_t count);

#endif
