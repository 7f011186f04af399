/* clock.c -- what time it is, asked of the kernel itself */
#include "base/clock.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/arch.h"

static int64_t ahead_of_launcher_ns;

/* Not by the vdso, which saves 50 ns: a program may unmap it, or forbid the time stamp counter that it reads. */
static uint64_t read_clock(clockid_t clock)
{
    struct timespec time;
    if (col_arch_syscall(SYS_clock_gettime, clock, (long)&time, 0, 0, 0, 0) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t col_clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC) - (uint64_t)__atomic_load_n(&ahead_of_launcher_ns, __ATOMIC_RELAXED);
}

void col_clock_set_ahead(int64_t ahead_ns)
{
    __atomic_store_n(&ahead_of_launcher_ns, ahead_ns, __ATOMIC_RELAXED);
}

void col_clock_offsets(int64_t *wall_ns, int64_t *boottime_ns)
{
    uint64_t now_ns = read_clock(CLOCK_MONOTONIC);
    *wall_ns = (int64_t)(read_clock(CLOCK_REALTIME) - now_ns);
    *boottime_ns = (int64_t)(read_clock(CLOCK_BOOTTIME) - now_ns);
}

uint64_t col_clock_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

uint64_t col_clock_thread_cpu(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t col_clock_cpu_of(uint32_t thread)
{
    /* The kernel's numbering of per-thread scheduler clocks: ~tid << 3 | 4 (thread) | 2 (scheduler). */
    return read_clock((clockid_t)(~thread << 3 | 6));
}

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static struct rusage usage_of(int who)
{
    struct rusage usage = {0};
    col_arch_syscall(SYS_getrusage, who, (long)&usage, 0, 0, 0, 0);
    return usage;
}

static void read_usage(int who, uint64_t *user_ns, uint64_t *system_ns)
{
    struct rusage usage = usage_of(who);
    *user_ns = timeval_ns(usage.ru_utime);
    *system_ns = timeval_ns(usage.ru_stime);
}

void col_clock_thread_times(uint64_t *user_ns, uint64_t *system_ns)
{
    read_usage(RUSAGE_THREAD, user_ns, system_ns);
}

void col_clock_thread_switches(uint64_t *system_ns, uint64_t *switches)
{
    struct rusage usage = usage_of(RUSAGE_THREAD);
    *system_ns = timeval_ns(usage.ru_stime);
    *switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

void col_clock_process_times(uint64_t *user_ns, uint64_t *system_ns)
{
    read_usage(RUSAGE_SELF, user_ns, system_ns);
}
