/* cancellable_library.c -- a C library that makes system calls by the three functions of glibc from 2.41 on; nap() waits so many milliseconds in poll(2)
 *
 * As a library: build it with -shared -DLIBRARY and without symbols. Without LIBRARY it is the program that naps in it.
 */
#include <sys/syscall.h>

#define APART __attribute__((noipa)) /* as of another file */

int nap(long ms);

#ifdef LIBRARY
#include "cancellable_arch.h"

static const int flags;
static volatile long kept;

APART static void __internal_syscall_cancel(long a, long b, long c, long d, long e, long f, long number)
{
    kept = __syscall_cancel_arch(&flags, number, a, b, c, d, e, f);
}

APART static void __syscall_cancel(long a, long b, long c, long d, long e, long f, long number)
{
    __internal_syscall_cancel(a, b, c, d, e, f, number);
    __asm__ volatile("");
}

/* Without a name as well, but none of them. */
APART static int other(long ms)
{
    __syscall_cancel(0, 0, ms, 0, 0, 0, SYS_poll);
    return (int)kept;
}

int nap(long ms)
{
    return other(ms) + 1;
}
#else
#include <stdlib.h>

int main(int argc, char **argv)
{
    return nap(argc > 1 ? atol(argv[1]) : 300) - 1;
}
#endif
