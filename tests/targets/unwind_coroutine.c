/*
 * unwind_coroutine.c -- the time is spent on stacks that the program made itself
 *
 * Truth: a coroutine's stack ends in its first function: coroutine > step > case_spin. The main one is as ever:
 * main > resume > swapcontext.
 */
#include <stdlib.h>
#include <ucontext.h>

#include "unwind_case.h"

static ucontext_t main_context, other_context[2];

CASE_FRAME void step(int depth)
{
    if (depth > 0)
        step(depth - 1);
    else
        case_spin();
    CASE_NO_TAIL_CALL;
}

CASE_FRAME void coroutine(int number)
{
    for (;;) {
        for (int i = 0; i < 20; i++)
            step(3);
        swapcontext(&other_context[number], &main_context);
    }
}

CASE_FRAME void resume(int number)
{
    swapcontext(&main_context, &other_context[number]);
    CASE_NO_TAIL_CALL;
}

int main(void)
{
    for (int i = 0; i < 2; i++) {
        getcontext(&other_context[i]);
        other_context[i].uc_stack.ss_sp = malloc(1 << 16);
        other_context[i].uc_stack.ss_size = 1 << 16;
        makecontext(&other_context[i], (void (*)(void))coroutine, 1, i);
    }
    case_begin();
    for (int i = 0; !case_is_over(); i++)
        resume(i % 2);
    case_print();
    return 0;
}
