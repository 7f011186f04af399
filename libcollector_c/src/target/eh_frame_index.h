/* eh_frame_index.h -- searching the sorted index of .eh_frame_hdr */
#ifndef COL_TARGET_EH_FRAME_INDEX_H
#define COL_TARGET_EH_FRAME_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/safe_read.h" /* struct col_proved_pages */

/* CALLABLE FROM ANYWHERE, signal handlers included. Layout: LSB Core, "Exception Frames", 10.6.2. */

enum { COL_EH_FRAME_PAIR_BYTES = 8 };

/* Pairs of int32, both relative to the header: {first address of a function, its entry}. They are within the module; whether
   they are readable, or sorted, nobody knows. */
struct col_eh_frame_index {
    struct col_proved_pages *proved;
    uintptr_t header, pairs;
    uint64_t count;
    bool failed; /* a pair could not be read; false to begin with */
};

/* The entry of the last function that begins at or before `pc`, an address of any value. False if there is none, or the index
   cannot be read. */
bool col_eh_frame_index_search(struct col_eh_frame_index *index, uintptr_t pc, uintptr_t *entry);

#endif
