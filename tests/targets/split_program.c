/*
 * split_program.c -- spins in code that lies before everything its unwind tables describe
 *
 * Linked with -no-pie -Wl,--section-start=.text=0x900000 its segments have a gap between them, as node's have: the C
 * library then tells of each as of a module of its own, with tables that lie in another. Prints how long each function took, `FUNCTION_ns NUMBER`.
 */
#include <stdio.h>

#include "measured_work.h"

void spin_early(unsigned long turns);
void spin_late(unsigned long turns);
#if defined(__x86_64__)
__asm__(".section .init, \"ax\", @progbits\n"
        "jmp 1f\n"
        "spin_early: dec %rdi\n"
        "jnz spin_early\n"
        "ret\n"
        "1:\n"
        ".text\n");
#endif

__attribute__((noinline)) void spin_late(unsigned long turns)
{
    while (turns-- > 0)
        __asm__ volatile("");
}

static struct account spin_early_ns = {"spin_early_ns", 0}, spin_late_ns = {"spin_late_ns", 0};

int main(void)
{
    BOOK(spin_early_ns, spin_early(300000000));
    BOOK(spin_late_ns, spin_late(300000000));
    print_account(&spin_early_ns);
    print_account(&spin_late_ns);
    puts("done");
    return 0;
}
