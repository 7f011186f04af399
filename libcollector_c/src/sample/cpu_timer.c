/* cpu_timer.c -- POSIX timers that signal a thread as it uses CPU time */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/cpu_timer.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/arch.h"
#include "sample/clock_event.h"

static struct {
    uint32_t random;
} self;

void col_cpu_timer_seed(uint32_t seed)
{
    self.random = seed;
}

static uint64_t next_random(void)
{
    uint32_t x = __atomic_load_n(&self.random, __ATOMIC_RELAXED) | 1;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    __atomic_store_n(&self.random, x, __ATOMIC_RELAXED);
    return x;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static long set(int timer, uint64_t first_ns, uint64_t period_ns)
{
    struct itimerspec when = {.it_interval = timespec_of(period_ns), .it_value = timespec_of(first_ns)};
    return col_arch_syscall(SYS_timer_settime, timer, 0, (long)&when, 0, 0, 0);
}

int col_cpu_timer_start(uint64_t period_ns, uint32_t tid)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
                             .sigev_signo = COL_CLOCK_SIGNAL,
                             .sigev_value.sival_ptr = (void *)COL_CLOCK_EVENT_MAGIC};
    int timer = -1;
    event._sigev_un._tid = (pid_t)tid;
    long error = col_arch_syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&event, (long)&timer, 0, 0, 0);
    if (error == 0)
        error = set(timer, 1 + next_random() % period_ns, period_ns);
    return error == 0 ? timer : (int)error;
}

bool col_cpu_timer_set(int timer, uint64_t period_ns)
{
    return timer >= 0 && set(timer, period_ns, period_ns) == 0;
}

void col_cpu_timer_delete(int timer)
{
    if (timer >= 0)
        col_arch_syscall(SYS_timer_delete, timer, 0, 0, 0, 0, 0);
}

uint64_t col_cpu_timer_resolution_ns(void)
{
    struct timespec tick;
    return col_arch_syscall(SYS_clock_getres, CLOCK_REALTIME_COARSE, (long)&tick, 0, 0, 0, 0) == 0
               ? (uint64_t)tick.tv_sec * 1000000000u + (uint64_t)tick.tv_nsec
               : 10000000u;
}
