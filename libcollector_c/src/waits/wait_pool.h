/* wait_pool.h -- where the short-lived threads of a process were seen to wait: what each of them says too little of by itself */
#ifndef COL_WAITS_WAIT_POOL_H
#define COL_WAITS_WAIT_POOL_H

#include <stdint.h>

#include "waits/wait_stack.h"

/* Shares of stacks in each octave of lengths, for threads that end before they are looked at often enough. Ordinary code, one thread at a time. */
enum { COL_WAIT_POOL_STACKS = 128 };

struct col_wait_pool {
    struct {
        struct col_wait_stack *stack;
        uint8_t octave;
        uint64_t weight_ns;
    } shares[COL_WAIT_POOL_STACKS];
    uint32_t count;
};

/* One that does not fit takes the place of the lightest. */
void col_wait_pool_add(struct col_wait_pool *pool, struct col_wait_stack *stack, uint8_t octave, uint64_t weight_ns);

/* A stack by chance, as often as its share is large, and what that is; `random` is any number. NULL: none of that octave is known. It is the pool's. */
struct col_wait_stack *col_wait_pool_draw(const struct col_wait_pool *pool, uint8_t octave, uint64_t random,
                                          double *share);

void col_wait_pool_empty(struct col_wait_pool *pool);

#endif
