/* sort.c -- puts numbers into order */
#include "sort.h"

#include <stdlib.h>

static int compare(const void *left, const void *right)
{
    const struct col_keyed *first = left, *second = right;
    if (first->key != second->key)
        return first->key < second->key ? -1 : 1;
    return (first->value > second->value) - (first->value < second->value);
}

void col_sort_keyed(struct col_keyed *items, size_t count)
{
    if (count > 1)
        qsort(items, count, sizeof *items, compare);
}
