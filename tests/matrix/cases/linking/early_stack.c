/* early_stack.c -- a library whose constructor sets an alternate signal stack on which no handler fits, as one of MINSIGSTKSZ was before AVX-512 */
#include "matrix.h"

static char room[2048];

__attribute__((constructor)) static void begin(void)
{
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    sigaltstack(&stack, NULL);
}
