/* openmp_planted_library.c -- a library with a parallel region, for programs that know nothing of OpenMP */
#include "measured_work.h"

#include <omp.h>

NOINLINE void labour(long us)
{
    work(us);
}

void planted(void)
{
    int count = 0;
#pragma omp parallel num_threads(2) reduction(+ : count)
    {
        labour(50000);
        count++;
    }
    printf("%d threads\n", count);
}
