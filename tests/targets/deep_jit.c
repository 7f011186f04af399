/* deep_jit.c -- code in memory of its own, without tables, that calls itself DEPTH times and then computes for 20 ms; this ROUNDS times
 *
 * Prints what clock the thread has used.
 */
#include "measured_work.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__)
/* f: test %edi, %edi; je leaf; sub $24, %rsp; dec %edi; call f; add $24, %rsp; ret; leaf: jmp *%rsi */
static const unsigned char code[] = {0x85, 0xff, 0x74, 0x10, 0x48, 0x83, 0xec, 0x18, 0xff, 0xcf, 0xe8, 0xf1, 0xff, 0xff, 0xff, 0x48, 0x83, 0xc4, 0x18, 0xc3, 0xff, 0xe6};
#else
/* f: cbz w0, leaf; stp x29, x30, [sp, #-32]!; sub w0, w0, #1; bl f; ldp x29, x30, [sp], #32; ret; leaf: br x1 */
static const unsigned code[] = {0x340000c0, 0xa9be7bfd, 0x51000400, 0x97fffffd, 0xa8c27bfd, 0xd65f03c0, 0xd61f0020};
#endif

static void compute(void)
{
    work(20000);
}

int main(int count, char **words)
{
    int depth = count > 1 ? atoi(words[1]) : 10, rounds = count > 2 ? atoi(words[2]) : 1;
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory, code, sizeof code);
    __builtin___clear_cache((char *)memory, (char *)memory + sizeof code);
    for (int i = 0; i < rounds; i++)
        ((void (*)(int, void (*)(void)))memory)(depth, compute);
    printf("process %lld\n", (long long)thread_ns());
    return 0;
}
