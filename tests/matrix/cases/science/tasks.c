/* tasks.c -- OpenMP: tasks that depend on each other, task loops, cancellation, teams, a target that is the host, ordered loops, nested regions */
#include <math.h>
#include <omp.h>
#include <stdio.h>

static double wave(double at, long steps)
{
    for (long i = 0; i < steps; i++)
        at = sin(at) + .5;
    return at;
}

static long fibonacci(int n)
{
    long one = 0, other = 0;
    if (n < 2)
        return n;
#pragma omp task shared(one) if (n > 15)
    one = fibonacci(n - 1);
#pragma omp task shared(other) if (n > 15)
    other = fibonacci(n - 2);
#pragma omp taskwait
    return one + other;
}

static void tasks(void)
{
    long number = 0;
    int last = 0;
    double sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    number = fibonacci(20);
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task depend(inout : last)
        last = last * 2 + i;
    }
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskloop reduction(+ : sum) grainsize(1)
    for (int i = 0; i < 10; i++)
        sum += wave(i, 100000);
    printf("%ld %d %.6f\n", number, last, sum);
}

static void cancelled(void)
{
    int found = 0;
#pragma omp parallel num_threads(2)
#pragma omp for
    for (int i = 0; i < 1000; i++) {
#pragma omp cancellation point for
        if (i == 400) {
            found = i;
#pragma omp cancel for
        }
    }
    printf("%d %d\n", omp_get_cancellation(), found);
}

static void teams(void)
{
    double sum = 0, nested = 0;
#pragma omp target map(tofrom : sum)
#pragma omp teams distribute parallel for reduction(+ : sum) num_teams(2) thread_limit(2)
    for (int i = 0; i < 100; i++)
        sum += i;
#pragma omp parallel num_threads(2) reduction(+ : nested)
#pragma omp parallel num_threads(2) reduction(+ : nested)
    nested += omp_get_level();
    printf("%.0f %.0f\n", sum, nested);
}

static void ordered(void)
{
    int order[8], count = 0, sections = 0;
#pragma omp parallel for ordered schedule(dynamic, 1) num_threads(2)
    for (int i = 0; i < 8; i++) {
#pragma omp ordered
        order[count++] = i;
    }
    for (int i = 0; i < 8; i++)
        printf("%d", order[i]);
#pragma omp parallel sections num_threads(2) reduction(+ : sections)
    {
#pragma omp section
        sections += 1;
#pragma omp section
        sections += 2;
    }
    printf(" %d\n", sections);
}

int main(void)
{
    omp_set_max_active_levels(3);
    tasks();
    cancelled();
    teams();
    ordered();
    return 0;
}
