/*
 * tableless.c -- to be compiled without unwind tables and without frame pointers
 *
 * Truth, for all the time: main > never_returns > one of
 *   large_frame > in_large_frame;
 *   sorts > qsort > compares > in_comparison;
 *   through_pointer > many_arguments > in_many_arguments;
 *   climbs * 10 > in_climb;
 *   jit (anonymous code with a frame of 24 bytes, a call, a jump back) > from_jit.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measured_work.h"

static struct account accounts[] = {{"in_large_frame", 0},    {"in_comparison", 0}, {"in_many_arguments", 0},
                                    {"in_climb", 0},          {"from_jit", 0}};
static volatile long kept;

NOINLINE void in_large_frame(void) { work(about(300)); }
NOINLINE void in_comparison(void) { work(about(40)); }
NOINLINE void in_many_arguments(long sum) { kept += sum; work(about(300)); }
NOINLINE void in_climb(void) { work(about(300)); }
NOINLINE void from_jit(void) { work(about(150)); }

NOINLINE void large_frame(long n)
{
    volatile char room[5000];
    room[n % 5000] = 1;
    BOOK(accounts[0], in_large_frame());
    kept += room[n % 5000];
}

NOINLINE int compares(const void *a, const void *b)
{
    in_comparison();
    return *(const int *)a - *(const int *)b;
}

NOINLINE void sorts(long n)
{
    int numbers[4] = {3, (int)n, 1, 2};
    BOOK(accounts[1], qsort(numbers, 4, sizeof *numbers, compares));
    kept += numbers[0];
}

NOINLINE void many_arguments(long a, long b, long c, long d, long e, long f, long g, long h)
{
    in_many_arguments(a * b + c * d + e * f + g * h);
    kept += a - h;
}

typedef void eight_longs(long, long, long, long, long, long, long, long);
static eight_longs *volatile pointer = many_arguments;

NOINLINE void through_pointer(long n)
{
    BOOK(accounts[2], pointer(n, 2, 3, 4, 5, 6, 7, 8));
    kept++;
}

NOINLINE long climbs(long depth)
{
    if (depth == 0) {
        BOOK(accounts[3], in_climb());
        return kept;
    }
    long below = climbs(depth - 1);
    kept += below;
    return below + depth;
}

typedef void jit_code(long times, void (*callee)(void));

/* push %rbx, %r12, %r13; mov %rdi,%rbx; mov %rsi,%r12; sub $24,%rsp; 1: call *%r12; dec %rbx; jne 1b; add $24,%rsp; pop all; ret */
static jit_code *make_code(void)
{
    static const unsigned char code[] = {0x53, 0x41, 0x54, 0x41, 0x55, 0x48, 0x89, 0xfb, 0x49, 0x89, 0xf4, 0x48, 0x83,
                                         0xec, 0x18, 0x41, 0xff, 0xd4, 0x48, 0xff, 0xcb, 0x75, 0xf8, 0x48, 0x83, 0xc4,
                                         0x18, 0x41, 0x5d, 0x41, 0x5c, 0x5b, 0xc3};
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    jit_code *made;
    memcpy(page, code, sizeof code);
    memcpy(&made, &page, sizeof made);
    return made;
}

NOINLINE __attribute__((noreturn)) void never_returns(long rounds)
{
    jit_code *jit = make_code();
    for (long i = 0;; i++) {
        large_frame(i);
        sorts(i);
        through_pointer(i);
        climbs(10);
        BOOK(accounts[4], jit(2, from_jit));
        if (i == rounds) {
            for (unsigned k = 0; k < sizeof accounts / sizeof *accounts; k++)
                print_account(&accounts[k]);
            fflush(stdout);
            exit(0);
        }
    }
}

int main(int argc, char **argv)
{
    never_returns(argc > 1 ? atol(argv[1]) : 300);
}
