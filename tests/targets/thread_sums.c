/* thread_sums.c -- truth: six threads, named sum0 to sum5, of 60, 120, ... 360 ms, half of them mostly in system calls; prints each one's CPU time at its end */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "measured_work.h"

enum { THREADS = 6 };
static int64_t used_ns[THREADS];
static int zero;

static void *run(void *argument)
{
    static __thread char buffer[1 << 15];
    long number = (long)argument;
    char name[16];
    snprintf(name, sizeof name, "sum%ld", number);
    pthread_setname_np(pthread_self(), name);
    int64_t end = 60000000 * (number + 1);
    while (thread_ns() < end) {
        if (number % 2 == 0)
            work(700);
        else
            for (int i = 0; i < 100; i++)
                if (read(zero, buffer, sizeof buffer) < 0)
                    abort();
    }
    used_ns[number] = thread_ns();
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        printf("sum%d %lld\n", i, (long long)used_ns[i]);
    printf("process %lld\n", (long long)process_ns());
    return 0;
}
