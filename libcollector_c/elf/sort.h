/* sort.h -- puts numbers into order, with what belongs to them */
#ifndef COL_ELF_SORT_H
#define COL_ELF_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct col_keyed {
    uint64_t key;
    uint64_t value;
};

/* By the keys; of equal ones those that came first stay first. False without memory. */
bool col_sort_keyed(struct col_keyed *items, size_t count);

#endif
