/* phase_locked.c -- truth: `in_phase` runs in the first 30 % of every cycle of the wall clock, `out_of_phase` in the rest; prints their CPU time
 *
 * phase_locked CYCLE_MICROSECONDS MILLISECONDS. The worst case for a clock that ticks once a cycle, or n times.
 */
#include <stdio.h>
#include <stdlib.h>

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

int main(int argc, char **argv)
{
    struct account in = {"in_phase", 0}, out = {"out_of_phase", 0};
    cycle_ns = (argc > 1 ? atol(argv[1]) : 10000) * 1000;
    int64_t end = thread_ns() + (argc > 2 ? atol(argv[2]) : 800) * 1000000;
    while (thread_ns() < end) {
        BOOK(in, in_phase());
        BOOK(out, out_of_phase());
    }
    print_account(&in);
    print_account(&out);
    return 0;
}
