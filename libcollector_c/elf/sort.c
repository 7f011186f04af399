/* sort.c -- puts numbers into order, byte by byte: addresses of one file have most bytes in common, and those are left out */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = 8, BYTE_VALUES = 256 };

static bool is_sorted(const struct col_keyed *items, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (items[i - 1].key > items[i].key)
            return false;
    return true;
}

/* Where the items of each value of a byte will begin; false if all have the same. */
static bool find_places(const struct col_keyed *items, size_t count, unsigned shift, size_t places[BYTE_VALUES])
{
    size_t position = 0;
    memset(places, 0, BYTE_VALUES * sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[items[i].key >> shift & 0xff]++;
    if (places[items[0].key >> shift & 0xff] == count)
        return false;
    for (size_t i = 0; i < BYTE_VALUES; i++) {
        size_t here = places[i];
        places[i] = position;
        position += here;
    }
    return true;
}

bool col_sort_keyed(struct col_keyed *items, size_t count)
{
    if (is_sorted(items, count))
        return true;
    struct col_keyed *scratch = calloc(count, sizeof *scratch), *from = items, *to = scratch;
    if (!scratch)
        return false;
    for (unsigned shift = 0; shift < 8 * KEY_BYTES; shift += 8) {
        size_t places[BYTE_VALUES];
        if (!find_places(from, count, shift, places))
            continue;
        for (size_t i = 0; i < count; i++)
            to[places[from[i].key >> shift & 0xff]++] = from[i];
        struct col_keyed *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
    free(scratch);
    return true;
}
