/* openmp.c -- parallel regions of OpenMP, and what programs do amid them
 *
 * build: -fopenmp
 */
#include "matrix.h"
#include <omp.h>
#include <setjmp.h>

CASE(openmp_region, 4, "a parallel region of four threads")
{
    int count = 0;
#pragma omp parallel num_threads(4) reduction(+ : count)
    {
        burn();
        count++;
    }
    say("%d threads", count);
}
CASE(openmp_nested, 6, "regions inside regions")
{
    int count = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : count)
    {
        int inner = 0;
        burn();
#pragma omp parallel num_threads(2) reduction(+ : inner)
        {
            burn();
            inner++;
        }
        count += inner;
    }
    say("%d threads", count);
}
CASE(openmp_many, 1, "200 regions of two threads") /* each waits for a turn of both, which a busy machine gives late */
{
    long sum = 0;
    for (int i = 0; i < 200; i++)
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum += i;
    burn();
    say("sum %ld", sum);
}
CASE(openmp_fork, 4, "both threads of a region fork")
{
#pragma omp parallel num_threads(2)
    {
        burn();
#pragma omp critical
        {
            pid_t child = fork();
            if (child == 0) {
                burn();
                _exit(7);
            }
            say_end(child);
        }
    }
}
CASE(openmp_exec, 3, "a region's thread runs another program")
{
#pragma omp parallel num_threads(2)
    {
        burn();
#pragma omp barrier
#pragma omp single
        execl("/proc/self/exe", "openmp", "after_exec", NULL);
    }
}
PART(after_exec) { burn(); say("after exec"); }
static jmp_buf place;
CASE(openmp_jump, 2, "a region that is left by longjmp")
{
    for (volatile int i = 0; i < 100; i++)
        if (setjmp(place) == 0) {
#pragma omp parallel num_threads(1)
            longjmp(place, 1);
        }
    burn();
#pragma omp parallel num_threads(1)
    burn();
    say("jumped");
}
static void *opens(void *unused)
{
#pragma omp parallel num_threads(2)
    burn();
    return unused;
}
CASE(openmp_openers, 8, "threads that open regions, and end")
{
    for (int round = 0; round < 2; round++) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, opens, NULL);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    }
    say("joined");
}
CASE(openmp_exit, 1, "the program exits amid a region")
{
#pragma omp parallel num_threads(2)
    {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
            burn();
            exit(3);
        }
        for (;;) pause();
    }
}
CASE(openmp_killed, 0, "the program kills itself amid a region")
{
#pragma omp parallel num_threads(2)
    {
        spin(1000000);
#pragma omp barrier
        if (omp_get_thread_num() == 0)
            raise(SIGKILL);
        for (;;) pause();
    }
}
