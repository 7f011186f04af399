/* crowded_samples.c -- truth: eight threads call collector_sample at the same time, 200 times each; one call after the others, "last", is always written */
#include <pthread.h>
#include <stdio.h>

#include "libcollector.h"

enum { THREADS = 8, CALLS = 200 };
static pthread_barrier_t barrier;

static void *run(void *label)
{
    for (int i = 0; i < CALLS; i++) {
        pthread_barrier_wait(&barrier);
        collector_sample((const char *)label);
    }
    return NULL;
}

int main(void)
{
    static const char *const labels[THREADS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, (void *)labels[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    collector_sample("last");
    puts("done");
    return 0;
}
