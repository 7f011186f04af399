/* range_table.h -- address ranges that a signal handler looks up while another thread replaces them */
#ifndef COL_TARGET_RANGE_TABLE_H
#define COL_TARGET_RANGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * CALLABLE FROM ANYWHERE, signal handlers included. Two sides: readers use one while a writer fills the other, then
 * they swap. A reader that was overtaken by two writers notices by the side's version and looks again.
 */

enum { COL_RANGE_TABLE_SIZE = 1024 };

struct col_range {
    uintptr_t low, high; /* high is the first address behind it */
    uintptr_t payload;
};

struct col_range_side {
    uint32_t version; /* odd while it is written */
    uint32_t count;
    struct col_range ranges[COL_RANGE_TABLE_SIZE];
};

struct col_range_table {
    uint32_t active;
    bool is_writing;
    struct col_range_side side[2];
};

/* Copies the range that covers `address`; false when there is none. */
bool col_range_table_find(struct col_range_table *table, uintptr_t address, struct col_range *found);

/* The side to fill, empty; NULL while someone else (perhaps the code we interrupted) fills it. */
struct col_range_side *col_range_table_begin(struct col_range_table *table);

/* Adds a range; a neighbour of the last one with the same payload widens that. Silently ignored when full. */
void col_range_table_add(struct col_range_side *side, struct col_range range);

/* Sorts the side and shows it to readers. */
void col_range_table_finish(struct col_range_table *table, struct col_range_side *side);

/* Leaves readers the side that they have. */
void col_range_table_cancel(struct col_range_table *table, struct col_range_side *side);

/* In the child after fork: gives up what a writer had begun that the child does not have. */
void col_range_table_after_fork(struct col_range_table *table);

#endif
