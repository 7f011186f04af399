/* cancellable_calls.c -- waits whose system calls are made as glibc makes them from 2.41 on: their number is an argument, which the code before `syscall` does not tell
 *
 * `function` waits 100 ms; in calls of many threads by an assembler function (by_arch), and of one by the function that was given the number (by_caller);
 * by_constant is an older one.
 */
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

#define APART __attribute__((noipa)) /* as of another file */
#define NS 100000000L

#include "cancellable_arch.h"

static const int flags;
static volatile long kept;

APART static void by_arch(long a, long b, long c, long d, long e, long f, long number)
{
    kept = __syscall_cancel_arch(&flags, number, a, b, c, d, e, f);
}

APART static void by_caller(long a, long b, long c, long d, long e, long f, long number)
{
    long answer;
    register long r10 __asm__("r10") = d;
    (void)e, (void)f;
    __asm__ volatile("mov %1, %%rax; syscall" : "=&a"(answer) : "m"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    kept = answer;
}

/* What is loaded last is no number. */
APART static void by_constant(long a, long b, long c, long d, long e, long f, long last)
{
    long answer;
    (void)c, (void)d, (void)e, (void)f;
    __asm__ volatile("mov $35, %%eax; mov %1, %%r8; syscall" : "=&a"(answer) : "m"(last), "D"(a), "S"(b) : "rcx", "r8", "r11", "memory");
    kept = answer;
}

/* What follows the call keeps it from being the last one, whose frame would be reused. */
#define WAIT(name, ...)                       \
    APART static void name(void)              \
    {                                         \
        struct timespec time = {0, NS};       \
        long sleep = (long)&time;             \
        (void)sleep;                          \
        __VA_ARGS__;                          \
        __asm__ volatile("" : : "m"(time));   \
    }

WAIT(sleeps_by_arch, by_arch(CLOCK_MONOTONIC, 0, sleep, 0, 0, 0, SYS_clock_nanosleep))
WAIT(polls_by_arch, by_arch(0, 0, NS / 1000000, 0, 0, 0, SYS_poll))
WAIT(sleeps_by_caller, by_caller(sleep, 0, 0, 0, 0, 0, SYS_nanosleep))
WAIT(polls_by_caller, by_caller(0, 0, NS / 1000000, 0, 0, 0, SYS_poll))
WAIT(sleeps_by_constant, by_constant(sleep, 0, 0, 0, 0, 0, SYS_poll))

int main(void)
{
    sleeps_by_constant();
    sleeps_by_arch();
    polls_by_arch();
    sleeps_by_caller();
    polls_by_caller();
    return 0;
}
