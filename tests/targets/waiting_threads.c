/* waiting_threads.c -- truth: three threads wait 50, 100 and 200 ms and then work
 *
 * Each line is `tid inner_wall inner_cpu outer_wall` in nanoseconds: from a thread's first to its last statement, and from before its creation
 * until it was joined.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct known {
    long wait_ms;
    long tid;
    int64_t wall_ns;
    int64_t cpu_ns;
};

static int64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void *wait_and_work(void *argument)
{
    struct known *known = argument;
    int64_t wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    struct timespec wait = {0, known->wait_ms * 1000000};
    nanosleep(&wait, NULL);
    while (now(CLOCK_THREAD_CPUTIME_ID) < cpu + 30000000)
        ;
    known->tid = syscall(SYS_gettid);
    known->cpu_ns = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    known->wall_ns = now(CLOCK_MONOTONIC) - wall;
    return NULL;
}

int main(void)
{
    for (long wait_ms = 50; wait_ms <= 200; wait_ms *= 2) {
        struct known known = {.wait_ms = wait_ms};
        pthread_t thread;
        int64_t outer = now(CLOCK_MONOTONIC);
        pthread_create(&thread, NULL, wait_and_work, &known);
        pthread_join(thread, NULL);
        printf("%ld %lld %lld %lld\n", known.tid, (long long)known.wall_ns, (long long)known.cpu_ns,
               (long long)(now(CLOCK_MONOTONIC) - outer));
    }
}
