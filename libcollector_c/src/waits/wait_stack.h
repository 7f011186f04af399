/* wait_stack.h -- the stacks at which threads were seen to wait, each kept once */
#ifndef COL_WAITS_WAIT_STACK_H
#define COL_WAITS_WAIT_STACK_H

#include <stddef.h>
#include <stdint.h>

#include "waits/look.h"

/* Two of the same pcs that wait for different things are two. Owned by those who hold it; ordinary code, one thread at a time. */
struct col_wait_stack {
    struct col_wait_stack *next; /* of the same place in the table */
    uint64_t hash;
    uint32_t holders;
    uint32_t count;
    uint8_t end; /* StackEnd */
    uint8_t cause;
    uintptr_t pcs[]; /* the leaf first */
};

/* The stack of these pcs, held once more for the caller; NULL: no memory. */
struct col_wait_stack *col_wait_stack_take(const uintptr_t *pcs, size_t count, unsigned end, enum col_wait_cause cause);
struct col_wait_stack *col_wait_stack_hold(struct col_wait_stack *stack); /* gives it back; NULL is nothing to hold */
void col_wait_stack_drop(struct col_wait_stack *stack);                   /* NULL is nothing to drop */

#endif
