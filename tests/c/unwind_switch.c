/*
 * unwind_switch.c -- walks the stack after every instruction of swapcontext(3), by which two stacks take turns
 *
 * The CPU's trap flag makes each instruction end in a SIGTRAP. Wherever sp points, what is called is what has called swapcontext on
 * that stack: also between the instruction that loads sp and the one that puts the return address back there, where the table is wrong.
 * Prints how many instructions there were, then those at which the walk has another answer; ends with 0 if there is none.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "base/arch.h"
#include "sample/unwind.h"

enum { STACK_BYTES = 1 << 16, TURNS = 20, MOST_FRAMES = 64, TRAP_FLAG = 0x100, SWAPCONTEXT_BYTES = 0x200 };

static ucontext_t main_context, other_context;
static char other_stack[STACK_BYTES];
static uintptr_t callers[2]; /* of swapcontext, on the main stack and on the other one */
static unsigned long instructions, wrong;

static bool is_on_other(uintptr_t sp)
{
    return sp - (uintptr_t)other_stack <= STACK_BYTES;
}

static void after_instruction(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)info;
    struct col_regs regs;
    struct col_stack_bounds bounds = {0, 0};
    uintptr_t pcs[MOST_FRAMES];
    enum col_stack_end end;
    col_regs_from_context(&regs, context);
    uintptr_t offset = regs.pc - (uintptr_t)swapcontext;
    if (offset == 0)
        memcpy(&callers[is_on_other(regs.sp)], (const void *)regs.sp, sizeof callers[0]);
    if (offset >= SWAPCONTEXT_BYTES || callers[0] == 0 || callers[1] == 0)
        return;
    size_t count = col_unwind_walk(context, &bounds, pcs, NULL, MOST_FRAMES, &end);
    instructions++;
    bool is_whole = end == COL_END_COMPLETE || end == COL_END_GUESSED;
    if (is_whole && count > 1 && pcs[1] == callers[is_on_other(regs.sp)])
        return;
    wrong++;
    printf("swapcontext+%#lx: end %d, %zu frames\n", (unsigned long)offset, (int)end, count);
}

static void turns(void)
{
    for (;;)
        swapcontext(&other_context, &main_context);
}

static void set_trap_flag(bool is_on)
{
    __asm__ volatile("sub $128, %%rsp; pushfq; andq %1, (%%rsp); orq %0, (%%rsp); popfq; add $128, %%rsp"
                     :
                     : "r"(is_on ? (uintptr_t)TRAP_FLAG : 0), "i"(~TRAP_FLAG)
                     : "memory", "cc");
}

int main(void)
{
    static char stack[1 << 16];
    struct sigaction action = {.sa_sigaction = after_instruction, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    sigaction(SIGTRAP, &action, NULL);
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = other_stack;
    other_context.uc_stack.ss_size = sizeof other_stack;
    makecontext(&other_context, turns, 0);
    swapcontext(&main_context, &other_context);
    set_trap_flag(true);
    for (int i = 0; i < TURNS; i++)
        swapcontext(&main_context, &other_context);
    set_trap_flag(false);
    printf("%lu instructions\n", instructions);
    return wrong != 0 || instructions == 0;
}
