/*
 * jit_on_small_stack.c -- for MS milliseconds, anonymous code that calls anonymous code, with an alternate signal stack just large enough for a tick; prints how
 * many bytes below that stack were written
 *
 * Truth, for nearly all the time: main > run_code > outer (anonymous) > inner (anonymous).
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "made_code.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
enum { BELOW = 65536, TICK_BYTES = 4096, UNWRITTEN = 0x5a };

static const unsigned char code[] = "\x48\x83\xec\x08\xe8\x05\x00\x00\x00" /* sub $8, %rsp; call inner */
                                    "\x48\x83\xc4\x08\xc3"                 /* add $8, %rsp; ret */
                                    "\xb9\x40\x42\x0f\x00"                 /* inner: mov $1000000, %ecx */
                                    "\xff\xc9\x75\xfc\xc3";                /* 1: dec %ecx; jne 1b; ret */

int main(int argc, char **argv)
{
    size_t bytes = getauxval(AT_MINSIGSTKSZ) + TICK_BYTES;
    char *room = malloc(BELOW + bytes), *made = make_room(sizeof code);
    stack_t stack = {.ss_sp = room + BELOW, .ss_size = bytes};
    int written = 0;
    memset(room, UNWRITTEN, BELOW + bytes);
    memcpy(made, code, sizeof code);
    sigaltstack(&stack, NULL);
    run_code(made, argc > 1 ? atol(argv[1]) : 500);
    for (int i = 0; i < BELOW; i++)
        written += room[i] != UNWRITTEN;
    printf("%d\n", written);
    return 0;
}
