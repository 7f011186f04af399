/*
 * unwind_without_tables.c -- code that no unwind table describes
 *
 * Truth: main > with_frames > bare_frame (frame pointer, no table) > case_spin;
 * main > with_leaf > bare_leaf (neither; reached through a direct call);
 * main > with_jit > [anonymous] (made at run time, frame pointer) > case_spin;
 * main > with_clock > [vdso], or the clock's function in libc.
 */
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "unwind_case.h"

void bare_frame(void (*work)(void));
unsigned long bare_leaf(unsigned long rounds);

__asm__(".text\n"
        ".globl bare_frame, bare_leaf\n"
        ".type bare_frame, @function\n"
        "bare_frame:\n"
        "push %rbp\n"
        "mov %rsp, %rbp\n"
        "sub $48, %rsp\n"
        "call *%rdi\n"
        "leave\n"
        "ret\n"
        ".size bare_frame, . - bare_frame\n"
        ".type bare_leaf, @function\n"
        "bare_leaf:\n"
        "push %rbx\n"
        "mov %rdi, %rbx\n"
        "1: dec %rbx\n"
        "jnz 1b\n"
        "pop %rbx\n"
        "ret\n"
        ".size bare_leaf, . - bare_leaf\n");

typedef void jit_code(void (*work)(void));
static jit_code *jit;

CASE_FRAME void with_frames(void)
{
    bare_frame(case_spin);
    CASE_NO_TAIL_CALL;
}

CASE_FRAME void with_leaf(void)
{
    bare_leaf(10000);
    CASE_NO_TAIL_CALL;
}

CASE_FRAME void with_jit(void)
{
    jit(case_spin);
    CASE_NO_TAIL_CALL;
}

CASE_FRAME void with_clock(void)
{
    struct timespec now;
    for (int i = 0; i < 100; i++)
        clock_gettime(CLOCK_MONOTONIC, &now);
}

int main(void)
{
    static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x30, 0xff, 0xd7, 0xc9, 0xc3};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    memcpy(&jit, &page, sizeof jit);
    case_begin();
    while (!case_is_over()) {
        with_frames();
        with_leaf();
        with_jit();
        with_clock();
    }
    case_print();
    return 0;
}
