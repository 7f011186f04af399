/* threads.c -- THREADS threads, each computing for so many million turns */
#include <pthread.h>
#include <stdlib.h>

static unsigned long turns;

static void *compute(void *seed)
{
    unsigned long x = (unsigned long)seed;
    for (unsigned long i = 0; i < turns; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    return (void *)x;
}

int main(int count, char **arguments)
{
    int threads = count > 1 ? atoi(arguments[1]) : 4;
    pthread_t ids[64];
    turns = (count > 2 ? strtoul(arguments[2], NULL, 10) : 500) * 1000000;
    for (long i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, compute, (void *)i);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
