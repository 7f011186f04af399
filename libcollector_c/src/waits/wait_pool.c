/* wait_pool.c -- shares that many threads have in common */
#include "waits/wait_pool.h"

void col_wait_pool_add(struct col_wait_pool *pool, struct col_wait_stack *stack, uint8_t octave, uint64_t weight_ns)
{
    uint32_t lightest = 0;
    for (uint32_t i = 0; i < pool->count; i++) {
        if (pool->shares[i].stack == stack && pool->shares[i].octave == octave) {
            pool->shares[i].weight_ns += weight_ns;
            return;
        }
        if (pool->shares[i].weight_ns < pool->shares[lightest].weight_ns)
            lightest = i;
    }
    uint32_t at = pool->count < COL_WAIT_POOL_STACKS ? pool->count++ : lightest;
    col_wait_stack_drop(pool->shares[at].stack);
    pool->shares[at].stack = col_wait_stack_hold(stack);
    pool->shares[at].octave = octave;
    pool->shares[at].weight_ns = weight_ns;
}

struct col_wait_stack *col_wait_pool_draw(const struct col_wait_pool *pool, uint8_t octave, uint64_t random,
                                          double *share)
{
    uint64_t sum_ns = 0;
    for (uint32_t i = 0; i < pool->count; i++)
        sum_ns += pool->shares[i].octave == octave ? pool->shares[i].weight_ns : 0;
    uint64_t left_ns = sum_ns != 0 ? random % sum_ns : 0;
    for (uint32_t i = 0; i < pool->count; i++) {
        if (pool->shares[i].octave != octave)
            continue;
        *share = (double)pool->shares[i].weight_ns / (double)sum_ns;
        if (left_ns < pool->shares[i].weight_ns)
            return pool->shares[i].stack;
        left_ns -= pool->shares[i].weight_ns;
    }
    return NULL;
}

void col_wait_pool_empty(struct col_wait_pool *pool)
{
    while (pool->count > 0)
        col_wait_stack_drop(pool->shares[--pool->count].stack);
}
