/* missing_time.c -- the time of ticks that did not come and that no later one explained */
#include "sample/missing_time.h"

#include "base/clock.h"

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t col_missing_time_take(struct col_thread *thread, uint64_t ns)
{
    uint64_t user_ns, system_ns;
    col_clock_thread_times(&user_ns, &system_ns);
    uint64_t unplaced_ns = system_ns > thread->system_ns ? system_ns - thread->system_ns : 0;
    uint64_t kernel_ns = smaller(ns, unplaced_ns);
    thread->unseen_system_ns += kernel_ns;
    thread->system_ns += kernel_ns;
    thread->waiting_ns -= ns;
    return kernel_ns;
}

void col_missing_time_leave_open(struct col_thread *thread, uint64_t kept_ns)
{
    uint64_t ns = thread->waiting_ns - smaller(thread->waiting_ns, kept_ns);
    col_missing_time_take(thread, ns);
    thread->open_ns += ns;
}
