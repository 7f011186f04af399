/* api_cost.c -- truth: unrecorded, a call is at most a load, a test and a return; prints ns of one call and of an empty function */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>

#include "libcollector.h"

enum { CALL_COUNT = 5000000, ROUND_COUNT = 5 };

/* Each call is alone in a function, so that the loop cannot share its load and test.  */
static __attribute__((noinline)) void sample_once(void)
{
    collector_sample("label");
    __asm__ volatile("");
}

static __attribute__((noinline)) void do_nothing(void)
{
    __asm__ volatile("");
}

static double time_ns(void (*volatile function)(void))
{
    struct timespec begin, end;
    int i;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (i = 0; i < CALL_COUNT; i++)
        function();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)CALL_COUNT;
}

int main(void)
{
    double sample_ns = 1e9, nothing_ns = 1e9;
    int round;
    for (round = 0; round < ROUND_COUNT; round++) {
        double ns = time_ns(sample_once);
        sample_ns = ns < sample_ns ? ns : sample_ns;
        ns = time_ns(do_nothing);
        nothing_ns = ns < nothing_ns ? ns : nothing_ns;
    }
    printf("%.3f %.3f\n", sample_ns, nothing_ns);
    return 0;
}
