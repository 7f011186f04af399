/* python_locations.c -- the location table of a code object of CPython 3.11 and later, without its columns
 *
 * An entry is a byte 1CCCCLLL, a code and the number of instructions less one, and bytes below 128 as the code wants them:
 *
 *     0 to 9    the line of the entry before, columns in one byte
 *     10 to 12  0 to 2 lines further, two columns
 *     13        so many lines further (a signed varint), no columns
 *     14        the same, and lines and columns of the end
 *     15        no line
 *
 * Columns are most of it. Of three entries of a line, f0 02 13 01 04 (14: 1 further), 88 15 (1), d8 00 08 (11: 1 further), remain e9 02 and e8 02.
 */
#include "target/python_locations.h"

#include <stdbool.h>

#include "base/safe_read.h"

#define FIRST_BYTE 0x80u
#define MOST_UNITS 8u /* of an entry */

enum { SHORT_CODES = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };

/* Instructions that follow each other, all `delta` (as it is written: its sign is the lowest bit) lines from those before, or all without a line. */
struct run {
    size_t units;
    uint64_t delta;
    bool has_line;
};

/* What has no room is left out: that is never so of a table that an interpreter made. */
static uint8_t *put_run(uint8_t *to, const uint8_t *limit, const struct run *run)
{
    uint64_t delta = run->delta;
    for (size_t left = run->units; left > 0 && limit - to > COL_PYTHON_LOCATIONS_MORE; delta = 0) {
        size_t units = left < MOST_UNITS ? left : MOST_UNITS;
        unsigned code = run->has_line ? NO_COLUMNS : NONE;
        *to++ = (uint8_t)(FIRST_BYTE | code << 3 | (units - 1));
        if (run->has_line) {
            for (; delta >= 0x40; delta >>= 6)
                *to++ = (uint8_t)(0x40 | (delta & 0x3f));
            *to++ = (uint8_t)delta;
        }
        left -= units;
    }
    return to;
}

COL_READS_FOREIGN static uint64_t read_varint(const uint8_t *at, const uint8_t *end)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < COL_PYTHON_LOCATIONS_MORE && at + i < end; i++) {
        number |= (uint64_t)(at[i] & 0x3f) << 6 * i;
        if ((at[i] & 0x40) == 0)
            break;
    }
    return number;
}

COL_READS_FOREIGN size_t col_python_locations_shorten(const uint8_t *table, size_t bytes, uint8_t *to)
{
    struct run run = {.units = 0};
    uint8_t *begin = to;
    const uint8_t *limit = to + bytes + COL_PYTHON_LOCATIONS_MORE;
    for (const uint8_t *at = table, *end = table + bytes; at < end; at++) {
        if (*at < FIRST_BYTE)
            continue;
        unsigned code = *at >> 3 & 0xf;
        struct run next = {(*at & 7u) + 1u, 0, code != NONE};
        if (code == NO_COLUMNS || code == LONG)
            next.delta = read_varint(at + 1, end);
        else if (code >= SHORT_CODES && code < NO_COLUMNS)
            next.delta = (uint64_t)(code - SHORT_CODES) << 1;
        if (run.units > 0 && next.has_line == run.has_line && next.delta >> 1 == 0)
            run.units += next.units;
        else {
            to = put_run(to, limit, &run);
            run = next;
        }
    }
    return (size_t)(put_run(to, limit, &run) - begin);
}
