/* alternate_stack.c -- the stack that signals of ours are handled on */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/alternate_stack.h"

#include <stddef.h>

#include "base/os.h"
#include "base/real.h"
#include "control/silence.h"

/* A tick takes up to 20 KB, with the kernel's frame; the rest is for metric plugins, and for handlers of the program's that ask for an alternate stack. */
#define STACK_BYTES 262144u
#define KEPT_COUNT 16 /* stacks of threads that have ended */

static __thread void *own __attribute__((tls_model("initial-exec")));

static struct {
    void *kept[KEPT_COUNT];
} self;

static void *take(void)
{
    for (unsigned i = 0; i < KEPT_COUNT; i++) {
        void *stack = __atomic_load_n(&self.kept[i], __ATOMIC_RELAXED);
        if (stack != NULL &&
            __atomic_compare_exchange_n(&self.kept[i], &stack, NULL, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return stack;
    }
    return col_os_map_memory(STACK_BYTES);
}

static void give_back(void *stack)
{
    for (unsigned i = 0; i < KEPT_COUNT; i++) {
        void *none = NULL;
        if (__atomic_compare_exchange_n(&self.kept[i], &none, stack, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
    col_os_unmap(stack, STACK_BYTES);
}

void col_alternate_stack_begin(void)
{
    stack_t now;
    if (own != NULL || COL_REAL(sigaltstack)(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0)
        return;
    void *stack = take();
    now = (stack_t){.ss_sp = stack, .ss_size = STACK_BYTES};
    if (stack != NULL && COL_REAL(sigaltstack)(&now, NULL) == 0)
        own = stack;
    else if (stack != NULL)
        give_back(stack);
}

void col_alternate_stack_end(void)
{
    stack_t now, none = {.ss_flags = SS_DISABLE};
    void *stack = own;
    if (stack == NULL || col_silence_is_on() || COL_REAL(sigaltstack)(NULL, &now) != 0 ||
        (now.ss_sp == stack && COL_REAL(sigaltstack)(&none, NULL) != 0))
        return;
    own = NULL;
    give_back(stack);
}

bool col_alternate_stack_is_ours(const stack_t *stack)
{
    return own != NULL && stack->ss_sp == own;
}
