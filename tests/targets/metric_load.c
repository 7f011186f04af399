/* metric_load.c -- is busy for so many ms of wall time, and at least half of them of CPU time, in so many threads; prints "main" first. Then ends by return, _exit, terminate (ends its recording, then returns) or abort */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libcollector.h"

static long busy_ms, end_ms;

static long ms_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static long now_ms(void)
{
    return ms_of(CLOCK_MONOTONIC);
}

static void *work(void *argument)
{
    while (now_ms() < end_ms || ms_of(CLOCK_THREAD_CPUTIME_ID) < busy_ms)
        for (volatile int i = 0; i < 20000; i++)
            continue;
    return argument;
}

int main(int argc, char **argv)
{
    long ms = argc > 1 ? atol(argv[1]) : 100;
    int thread_count = argc > 2 ? atoi(argv[2]) : 1;
    const char *end = argc > 3 ? argv[3] : "return";
    pthread_t threads[64];
    if (write(1, "main\n", 5) != 5)
        return 1;
    busy_ms = ms / 2;
    end_ms = now_ms() + ms;
    for (int i = 1; i < thread_count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    work(NULL);
    for (int i = 1; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    if (strcmp(end, "_exit") == 0)
        _exit(0);
    if (strcmp(end, "abort") == 0)
        abort();
    if (strcmp(end, "terminate") == 0)
        collector_terminate_expt();
    return 0;
}
