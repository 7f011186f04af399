/* brief_calls.c -- truth: computes, about 200 us at a time, and in between reads, about 60 us of system calls of some microseconds each
 *
 * brief_calls MILLISECONDS
 * Time is taken of the wall: to read a thread's CPU clock makes the kernel end a time slice that is over, and a program that does so all the time has none of the
 * ticks that end them. What took longer than a millisecond was preempted, and the longer of the two more often: how long such work takes is told by the rest of its
 * kind. So only shares are true, not sums.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "measured_work.h"

struct kind {
    long units, timed_units; /* done in all, and while nothing else ran */
    int64_t timed_ns;
};

static char buffer[200000];
static int zero;

NOINLINE static void computes(long steps) { churned = churn(churned, steps); }

NOINLINE static void reads(long count)
{
    while (count-- > 0)
        if (read(zero, buffer, sizeof buffer) < 0)
            abort();
}

static void run(struct kind *kind, void (*function)(long), long units)
{
    int64_t begin = ns_of(CLOCK_MONOTONIC);
    function(units);
    int64_t took = ns_of(CLOCK_MONOTONIC) - begin;
    kind->units += units;
    if (took < 1000000) {
        kind->timed_units += units;
        kind->timed_ns += took;
    }
}

static void print_kind(const char *name, const struct kind *kind)
{
    struct account account = {name, (int64_t)((double)kind->timed_ns / kind->timed_units * kind->units)};
    print_account(&account);
}

/* So many take 60 us. */
static long reads_at_a_time(void)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 10; i++) {
        int64_t begin = ns_of(CLOCK_MONOTONIC);
        reads(10);
        int64_t took = ns_of(CLOCK_MONOTONIC) - begin;
        if (took < least)
            least = took;
    }
    return least < 600000 ? 600000 / least : 1;
}

int main(int argc, char **argv)
{
    struct kind computing = {0, 0, 0}, reading = {0, 0, 0};
    int64_t end = thread_ns() + (argc > 1 ? atol(argv[1]) : 1000) * 1000000;
    zero = open("/dev/zero", O_RDONLY);
    long count = reads_at_a_time();
    while (thread_ns() < end)
        for (int i = 0; i < 100; i++) {
            run(&computing, computes, about(160000));
            run(&reading, reads, count);
        }
    print_kind("computes", &computing);
    print_kind("reads", &reading);
    return 0;
}
