/* phase_locked.c -- truth: `in_phase` runs in the first 30 % of every cycle of the wall clock, `out_of_phase` in the rest; prints their CPU time,
 * and how often it was preempted: each time the clock and the wall lose step, and the truth of one run is no longer what its phase says.
 *
 * phase_locked CYCLE_MICROSECONDS MILLISECONDS [MOST_PREEMPTED]. The worst case for a clock that ticks once a cycle, or n times.
 * It ends sooner if it was preempted more often than the last says.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "measured_work.h"

static int64_t cycle_ns;

static inline int64_t phase_ns(void)
{
    return ns_of(CLOCK_MONOTONIC) % cycle_ns;
}

NOINLINE void in_phase(void)
{
    while (phase_ns() * 10 < cycle_ns * 3)
        churned = churn(churned, 200);
}

NOINLINE void out_of_phase(void)
{
    while (phase_ns() * 10 >= cycle_ns * 3)
        churned = churn(churned, 200);
}

static long preempted(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

int main(int argc, char **argv)
{
    struct account in = {"in_phase", 0}, out = {"out_of_phase", 0};
    cycle_ns = (argc > 1 ? atol(argv[1]) : 10000) * 1000;
    int64_t end = thread_ns() + (argc > 2 ? atol(argv[2]) : 800) * 1000000;
    long most_preempted = argc > 3 ? atol(argv[3]) : LONG_MAX;
    while (thread_ns() < end && preempted() <= most_preempted) {
        BOOK(in, in_phase());
        BOOK(out, out_of_phase());
    }
    print_account(&in);
    print_account(&out);
    printf("preempted %ld\n", preempted());
    return 0;
}
