/* cpu_timer_gaps.c -- truth: how often the kernel's CPU timer finds a plain program in 250 ms of CPU time, and the longest time between two ticks, without the recorder */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "measured_work.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

static volatile long ticks;
static volatile int64_t last_ns, longest_ns;

static void take_tick(int number)
{
    int64_t now_ns = thread_ns();
    (void)number;
    ticks++;
    if (now_ns - last_ns > longest_ns)
        longest_ns = now_ns - last_ns;
    last_ns = now_ns;
}

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    struct itimerspec period = {{0, 1062699}, {0, 1062699}};
    timer_t timer;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    signal(SIGPROF, take_tick);
    last_ns = thread_ns();
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0 || timer_settime(timer, 0, &period, NULL) != 0)
        return 1;
    work(250000);
    take_tick(0);
    printf("ticks %ld\nlongest_gap %lld\n", ticks - 1, (long long)longest_ns);
    return 0;
}
