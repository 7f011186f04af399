/*
 * split_program.c -- spins in code that lies before everything its unwind tables describe
 *
 * Linked with -no-pie -Wl,--section-start=.text=0x900000 its segments have a gap between them, as node's have: the C
 * library then tells of each as of a module of its own, with tables that lie in another.
 */
#include <stdio.h>

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

int main(void)
{
    spin_early(300000000);
    spin_late(300000000);
    puts("done");
    return 0;
}
