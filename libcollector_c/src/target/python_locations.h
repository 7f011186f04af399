/* python_locations.h -- the location table of a code object of CPython 3.11 and later, without its columns */
#ifndef COL_TARGET_PYTHON_LOCATIONS_H
#define COL_TARGET_PYTHON_LOCATIONS_H

#include <stddef.h>
#include <stdint.h>

enum { COL_PYTHON_LOCATIONS_MORE = 6 }; /* a varint */

/*
 * Writes to `to` a table of the same encoding (Objects/locations.md of CPython) in which each instruction has the line that it has in `table`, and no column;
 * neighbours of one line share an entry. Gives its length, which is not greater than `bytes` where an interpreter made the table; there is room for
 * COL_PYTHON_LOCATIONS_MORE bytes more. A table is foreign memory of any content.
 * CALLABLE FROM ANYWHERE, signal handlers included.
 */
size_t col_python_locations_shorten(const uint8_t *table, size_t bytes, uint8_t *to);

#endif
