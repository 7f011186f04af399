/* wait_stack.c -- a table of stacks that counts who holds them */
#include "waits/wait_stack.h"

#include <stdlib.h>
#include <string.h>

#include "base/sparse.h"

#define PLACES 4096u

static struct {
    struct col_wait_stack *places[PLACES];
} self COL_SPARSE;

static uint64_t hash_of(const uintptr_t *pcs, size_t count, unsigned end, enum col_wait_cause cause)
{
    uint64_t hash = end * 31u + (unsigned)cause;
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ pcs[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

struct col_wait_stack *col_wait_stack_hold(struct col_wait_stack *stack)
{
    if (stack != NULL)
        stack->holders++;
    return stack;
}

struct col_wait_stack *col_wait_stack_take(const uintptr_t *pcs, size_t count, unsigned end, enum col_wait_cause cause)
{
    uint64_t hash = hash_of(pcs, count, end, cause);
    struct col_wait_stack **place = &self.places[hash % PLACES], *stack;
    for (stack = *place; stack != NULL; stack = stack->next)
        if (stack->hash == hash && stack->count == count && stack->end == end && stack->cause == cause &&
            memcmp(stack->pcs, pcs, count * sizeof *pcs) == 0)
            return col_wait_stack_hold(stack);
    stack = malloc(sizeof *stack + count * sizeof *pcs);
    if (stack == NULL)
        return NULL;
    *stack = (struct col_wait_stack){.next = *place,
                                     .hash = hash,
                                     .holders = 1,
                                     .count = (uint32_t)count,
                                     .end = (uint8_t)end,
                                     .cause = (uint8_t)cause};
    memcpy(stack->pcs, pcs, count * sizeof *pcs);
    *place = stack;
    return stack;
}

void col_wait_stack_drop(struct col_wait_stack *stack)
{
    if (stack == NULL || --stack->holders > 0)
        return;
    struct col_wait_stack **place = &self.places[stack->hash % PLACES];
    while (*place != stack)
        place = &(*place)->next;
    *place = stack->next;
    free(stack);
}
