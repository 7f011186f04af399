/* copied.c -- code of the program mapped a second time, as V8 does with its built-in functions, under a small alternate signal stack, as Rust's threads have */
#include "matrix.h"
#include <sys/auxv.h>

#define BELOW 65536

extern const char __ehdr_start[];

/* Two functions on a page of their own: the copy of one returns to the copy of the other. */
extern const char code_page[];
__asm__(".pushsection .text\n .balign 4096\n code_page:\n"
        " sub $8, %rsp\n call 2f\n add $8, %rsp\n ret\n"
        " 2: mov %rdi, %rax\n 3: dec %rdi\n jnz 3b\n ret\n"
        " .balign 4096\n .popsection\n");

static char *map_copy(void)
{
    int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char *copy = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, program, (off_t)((uintptr_t)code_page - (uintptr_t)__ehdr_start));
    close(program);
    return copy;
}

CASE(copied_code, 0, "runs 20 copies of functions of its own, with an alternate signal stack just large enough; the bytes below it stay")
{
    size_t bytes = getauxval(AT_MINSIGSTKSZ) + 4096;
    char *room = malloc(BELOW + bytes);
    memset(room, 0x5a, BELOW + bytes);
    stack_t stack = {.ss_sp = room + BELOW, .ss_size = bytes};
    TELL(sigaltstack(&stack, NULL));
    long sum = 0;
    for (int i = 0; i < 20; i++)
        sum += ((long (*)(long))(void *)map_copy())(20000000);
    int touched = 0;
    for (int i = 0; i < BELOW; i++)
        touched += room[i] != 0x5a;
    say("counted to %ld, %d bytes below were written", sum, touched);
}
