/* stacks.h -- the call stacks that a PCSAMPLE record defines, unfolded once and shared by its samples */
#ifndef COL_PMCLOG_STACKS_H
#define COL_PMCLOG_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No more frames than this are unfolded from one record: a few bytes could ask for any number of them.
   The recorder's largest record has 1000 stacks of 4096 frames. */
#define COL_STACKS_MAX_FRAMES ((size_t)1 << 22)

/* A stack that only takes frames off the one before shares that one's frames. */
struct col_stack {
    size_t first; /* of its frames, in `frames` */
    uint32_t count;
    uint32_t end;
};

struct col_link; /* a parent and its children */

/* Zeroed memory is an empty set of stacks. */
struct col_stacks {
    uint64_t *frames; /* leaf first */
    size_t frame_count;
    size_t frame_capacity;
    struct col_stack *stacks;
    size_t stack_count;
    size_t stack_capacity;
    struct col_link *links;
    size_t link_count;
    size_t link_capacity; /* a power of two */
    uint32_t epoch;       /* links of earlier records carry an earlier one */
};

/* Forgets the stacks of the record before and takes those of `definitions`: `count`, or fewer if the bytes stop making sense.
   False if memory is short. */
bool col_stacks_define(struct col_stacks *stacks, uint64_t count, const uint8_t *definitions, size_t bytes);

void col_stacks_free(struct col_stacks *stacks);

#endif
