/* regions.c -- prints nanoseconds of the opener's CPU time for nothing, and for a parallel region of one thread; COUNT of each */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile int sink;

static __attribute__((noinline)) void nothing(int i)
{
    sink = i;
    __asm__ volatile("");
}

static __attribute__((noinline)) void of_one(int i)
{
#pragma omp parallel num_threads(1)
    sink = i;
    __asm__ volatile("");
}

static double cost_ns(void (*volatile open)(int), int count)
{
    struct timespec begun, ended;
    for (int i = 0; i < count; i++) /* the first samples, too, which read unwind tables for the first time */
        open(i);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
    for (int i = 0; i < count; i++)
        open(i);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    return ((double)(ended.tv_sec - begun.tv_sec) * 1e9 + (double)(ended.tv_nsec - begun.tv_nsec)) / count;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1000000;
    double none = cost_ns(nothing, count);
    printf("%.3f %.3f\n", none, cost_ns(of_one, count));
    return 0;
}
