/* entries.h -- the distinct addresses of all logs: by file and elf address, and whether they are leaves */
#ifndef COL_ANALYSIS_ENTRIES_H
#define COL_ANALYSIS_ENTRIES_H

#include "seam.h"
#include "array.h"

/* Zeroed memory is an empty table. */
struct col_entries {
    struct col_entry *entries;
    size_t count;
    size_t capacity;
    uint32_t *slots; /* numbers plus one; 0 is free */
    size_t slot_count;
};

/* The number of an entry, a new one where there is none; COL_ANALYSIS_NONE if memory is short. */
uint32_t col_entries_number(struct col_entries *entries, struct col_entry entry);

void col_entries_free(struct col_entries *entries);

#endif
