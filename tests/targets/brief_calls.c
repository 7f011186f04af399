/* brief_calls.c -- truth: computes, about 200 us at a time, and in between reads, about 60 us of system calls of some microseconds each
 *
 * brief_calls MILLISECONDS
 * Time is taken of the wall, and what took longer than a millisecond is left out: it was preempted. To read a thread's CPU clock makes the kernel end a time slice
 * that is over, and a program that does so all the time has none of the ticks that end them. So only shares are true, not sums.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "measured_work.h"

static char buffer[200000];
static int zero;

NOINLINE static void computes(void) { churned = churn(churned, about(160000)); }

NOINLINE static void reads(void)
{
    int64_t end = ns_of(CLOCK_MONOTONIC) + 60000;
    while (ns_of(CLOCK_MONOTONIC) < end)
        if (read(zero, buffer, sizeof buffer) < 0)
            abort();
}

static void book(struct account *account, void (*run)(void))
{
    int64_t begin = ns_of(CLOCK_MONOTONIC);
    run();
    int64_t took = ns_of(CLOCK_MONOTONIC) - begin;
    account->ns += took < 1000000 ? took : 0;
}

int main(int argc, char **argv)
{
    struct account computing = {"computes", 0}, reading = {"reads", 0};
    int64_t end = thread_ns() + (argc > 1 ? atol(argv[1]) : 1000) * 1000000;
    zero = open("/dev/zero", O_RDONLY);
    while (thread_ns() < end)
        for (int i = 0; i < 100; i++) {
            book(&computing, computes);
            book(&reading, reads);
        }
    print_account(&computing);
    print_account(&reading);
    return 0;
}
