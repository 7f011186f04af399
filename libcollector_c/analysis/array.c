/* array.c -- memory that grows: the one place where the analysis allocates */
#include "array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

bool col_array_reserve(void **items, size_t *capacity, size_t needed, size_t item_bytes)
{
    if (needed <= *capacity)
        return true;
    size_t larger = needed < FIRST_CAPACITY ? FIRST_CAPACITY : needed + needed / 2;
    if (larger < needed || larger > SIZE_MAX / item_bytes)
        return false;
    char *bytes = realloc(*items, larger * item_bytes);
    if (!bytes)
        return false;
    memset(bytes + *capacity * item_bytes, 0, (larger - *capacity) * item_bytes);
    *items = bytes;
    *capacity = larger;
    return true;
}
