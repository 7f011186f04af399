/* walk.h -- the stacks that one record defines, one after the other, as numbers of addresses */
#ifndef COL_ANALYSIS_WALK_H
#define COL_ANALYSIS_WALK_H

#include "addresses.h"

/* No more frames than this are put on by one record: a reader may refuse what is larger (docs/format.md, Stacks). */
#define COL_WALK_MOST_FRAMES ((uint64_t)1 << 22)

struct col_walk {
    struct col_addresses *table;
    struct col_tokens tokens;
    uint32_t *path; /* numbers of the addresses from the root on; room for COL_TOKENS_MAX_DEPTH */
    uint32_t depth;
    uint32_t kept; /* so many of them are those of the stack before */
    uint32_t end;  /* StackEnd */
    uint64_t frames_left;
    bool is_out_of_memory;
};

/* `path` must be set. False if memory is short. */
bool col_walk_begin(struct col_walk *walk, struct col_addresses *table, const uint8_t *definitions, size_t bytes);

/* Goes on to the next stack; false at the end, or where the bytes stop making sense. */
bool col_walk_next(struct col_walk *walk);

#endif
