/* leaks.c -- forgets memory, which LeakSanitizer finds when the program ends: no address of it may be in the recorder's memory */
#include "matrix.h"

static __attribute__((noinline)) void forget(bool is_alternate_stack)
{
    stack_t stack = {.ss_size = 65536};
    stack.ss_sp = malloc(stack.ss_size);
    if (is_alternate_stack)
        sigaltstack(&stack, NULL);
    *(void *volatile *)&stack.ss_sp = NULL;
}

/* No word of it is left on the stack. */
static __attribute__((noinline)) void wipe(void)
{
    volatile char room[16384];
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = 0;
}

PART(memory)
{
    forget(false);
    wipe();
    burn();
}

PART(alternate_stack)
{
    forget(true);
    wipe();
    burn();
}
