/* stack_table.h -- the stacks of one record: each is defined once, as its difference from the one before */
#ifndef COL_EXPERIMENT_STACK_TABLE_H
#define COL_EXPERIMENT_STACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Written for the samples of one thread between two frames of the log, then reset: no state crosses a frame.
 * Stacks are known by a 64-bit hash of their addresses and end: two different ones meet in a frame of 1000 with a probability of 3e-14.
 * Touched lazily: a thread whose stacks are shallow and few uses little of it. All functions may be called from anywhere, by one at a time.
 */
enum {
    COL_STACK_TABLE_STACKS = 1000,
    COL_STACK_TABLE_DEPTH = 4096,
    COL_STACK_TABLE_SLOTS = 2048,
    COL_STACK_TABLE_PARENTS = 1024,
    COL_STACK_TABLE_PARENT_SLOTS = 2048,
    COL_STACK_TABLE_CHILDREN = 7
};

/* What was put on over a parent, in the order of the format; 0: none. A cache line. */
struct col_stack_children {
    uintptr_t parent;
    uintptr_t child[COL_STACK_TABLE_CHILDREN];
};

struct col_stack_table {
    uint64_t interned[COL_STACK_TABLE_SLOTS];            /* 54 bits of hash, and index + 1 */
    uint16_t parent_slots[COL_STACK_TABLE_PARENT_SLOTS]; /* number in `known` + 1; may be lost to another */
    struct col_stack_children known[COL_STACK_TABLE_PARENTS];
    uintptr_t previous[COL_STACK_TABLE_DEPTH]; /* the stack defined last, from the root */
    uint32_t previous_count;
    uint32_t stack_count;
    uint32_t parent_count;
};

/* A stack as it comes from the unwinder: leaf first, at most COL_STACK_TABLE_DEPTH frames. */
struct col_stack {
    const uintptr_t *pcs;
    uint32_t count;
    uint32_t end; /* StackEnd */
};

void col_stack_table_reset(struct col_stack_table *table);

uint64_t col_stack_table_hash(const struct col_stack *stack);

/* True if the stack is defined: `index` is its number. */
bool col_stack_table_find(const struct col_stack_table *table, uint64_t hash, uint32_t *index);

/* The most bytes its definition can take now. */
size_t col_stack_table_bound(const struct col_stack_table *table, const struct col_stack *stack);

/* Defines a stack that is not there yet and is not one too many: its number is the stack_count before. Returns the bytes written. */
size_t col_stack_table_define(struct col_stack_table *table, uint64_t hash, const struct col_stack *stack,
                              uint8_t *out);

#endif
