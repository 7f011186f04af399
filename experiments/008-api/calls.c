/* calls.c -- prints nanoseconds a call: nothing at all, collector_sample, a pause and a resume, a func_load and a func_unload, is_active; COUNT of each */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libcollector.h"

static char code[4096];

static __attribute__((noinline)) void nothing(int i)
{
    __asm__ volatile("" : : "r"(i));
}

static __attribute__((noinline)) void sample(int i)
{
    __asm__ volatile("" : : "r"(i));
    collector_sample("label");
    __asm__ volatile("");
}

static __attribute__((noinline)) void pause_and_resume(int i)
{
    __asm__ volatile("" : : "r"(i));
    collector_pause();
    collector_resume();
    __asm__ volatile("");
}

static __attribute__((noinline)) void load_and_unload(int i)
{
    void *at = code + i % 4000;
    (void)at;
    collector_func_load("generated", NULL, "source.c", at, 16, 0, NULL);
    collector_func_unload(at);
    __asm__ volatile("");
}

static __attribute__((noinline)) void ask(int i)
{
    __asm__ volatile("" : : "r"(i));
    (void)collector_is_active();
    __asm__ volatile("");
}

static double cost_ns(void (*volatile call)(int), int count)
{
    struct timespec begun, ended;
    for (int i = 0; i < count / 10; i++)
        call(i);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begun);
    for (int i = 0; i < count; i++)
        call(i);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ended);
    return ((double)(ended.tv_sec - begun.tv_sec) * 1e9 + (double)(ended.tv_nsec - begun.tv_nsec)) / count;
}

int main(int argument_count, char **arguments)
{
    int count = argument_count > 1 ? atoi(arguments[1]) : 1000;
    printf("%.3f %.3f %.3f %.3f %.3f\n", cost_ns(nothing, count), cost_ns(sample, count), cost_ns(pause_and_resume, count), cost_ns(load_and_unload, count), cost_ns(ask, count));
    return 0;
}
