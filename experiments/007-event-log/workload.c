/* workload.c -- a busy program with real call stacks: threads that evaluate random expression trees, about 20 frames deep, for so many seconds */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 2, MAX_DEPTH = 28 };

static double seconds;

static uint64_t evaluate(uint64_t seed, int depth);

static uint64_t mix(uint64_t value)
{
    for (int i = 0; i < 40; i++)
        value = (value ^ value >> 29) * UINT64_C(0xBF58476D1CE4E5B9) + 1;
    return value;
}

static uint64_t sum(uint64_t seed, int depth)
{
    return evaluate(seed * 3 + 1, depth + 1) + mix(seed);
}

static uint64_t product(uint64_t seed, int depth)
{
    return evaluate(seed * 5 + 3, depth + 1) * (mix(seed) | 1);
}

static uint64_t choice(uint64_t seed, int depth)
{
    return mix(seed) & 64 ? sum(seed, depth + 1) : product(seed, depth + 1);
}

static uint64_t evaluate(uint64_t seed, int depth)
{
    if (depth > MAX_DEPTH)
        return mix(seed);
    return seed % 3 == 0 ? sum(seed, depth) : seed % 3 == 1 ? product(seed, depth) : choice(seed, depth);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *work(void *seed)
{
    double end = now() + seconds;
    uint64_t result = (uintptr_t)seed;
    while (now() < end)
        for (int i = 0; i < 100; i++)
            result += evaluate((uint64_t)i % 12, 0);
    return (void *)(uintptr_t)result;
}

int main(int count, char **arguments)
{
    pthread_t threads[THREADS];
    seconds = count > 1 ? atof(arguments[1]) : 1;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
