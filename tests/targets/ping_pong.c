/* ping_pong.c -- truth: two threads on one processor that hand a byte to and fro as often as the argument says; `off ns` is the time that they were on no processor, together */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2], rounds;
static int64_t off_ns[2];

static int64_t off_now(void)
{
    struct timespec wall, cpu;
    clock_gettime(CLOCK_MONOTONIC, &wall);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    return (wall.tv_sec - cpu.tv_sec) * INT64_C(1000000000) + wall.tv_nsec - cpu.tv_nsec;
}

static void *answer(void *argument)
{
    char byte;
    int64_t begun_ns = off_now();
    for (int i = 0; i < rounds; i++)
        if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1)
            abort();
    off_ns[1] = off_now() - begun_ns;
    return argument;
}

int main(int count, char **arguments)
{
    cpu_set_t first;
    pthread_t thread;
    char byte = 'x';
    rounds = count > 1 ? atoi(arguments[1]) : 1000;
    CPU_ZERO(&first);
    CPU_SET(sched_getcpu(), &first);
    sched_setaffinity(0, sizeof first, &first);
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    int64_t begun_ns = off_now();
    pthread_create(&thread, NULL, answer, NULL);
    for (int i = 0; i < rounds; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            abort();
    pthread_join(thread, NULL);
    off_ns[0] = off_now() - begun_ns;
    printf("off %lld\n", (long long)(off_ns[0] + off_ns[1]));
    return 0;
}
