/* thread_counters.c -- what the kernel counts of a thread, read at its ticks where the user asked for it: page faults, context switches
 *
 * The kernel counts them anyway, and tells with one system call; so a fault or a switch costs nothing more, and a tick half a microsecond twice.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/thread_counters.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/arch.h"

static const struct {
    unsigned asked_by;
    const char *name;
} counters[COL_THREAD_COUNTERS] = {{COL_COUNT_FAULTS, "minor_faults"},
                                   {COL_COUNT_FAULTS, "major_faults"},
                                   {COL_COUNT_SWITCHES, "voluntary_switches"},
                                   {COL_COUNT_SWITCHES, "involuntary_switches"}};

static unsigned asked;

void col_thread_counters_start(unsigned wanted)
{
    asked = wanted;
}

uint32_t col_thread_counters_count(void)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < COL_THREAD_COUNTERS; i++)
        count += (asked & counters[i].asked_by) != 0;
    return count;
}

void col_thread_counters_declare(const char **names)
{
    for (unsigned i = 0; i < COL_THREAD_COUNTERS; i++)
        if (asked & counters[i].asked_by)
            *names++ = counters[i].name;
}

/* Of the calling thread. False if they cannot be had. */
static bool read_counts(uint64_t *counts)
{
    struct rusage usage;
    if (col_arch_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) != 0)
        return false;
    counts[0] = (uint64_t)usage.ru_minflt;
    counts[1] = (uint64_t)usage.ru_majflt;
    counts[2] = (uint64_t)usage.ru_nvcsw;
    counts[3] = (uint64_t)usage.ru_nivcsw;
    return true;
}

void col_thread_counters_begin(struct col_thread *thread, bool is_newborn)
{
    memset(&thread->counted, 0, sizeof thread->counted);
    if (asked != 0 && !is_newborn)
        (void)read_counts(thread->counted.known);
}

void col_thread_counters_enter(struct col_thread *thread)
{
    uint64_t now[COL_THREAD_COUNTERS];
    if (asked == 0 || !read_counts(now))
        return;
    for (unsigned i = 0; i < COL_THREAD_COUNTERS; i++)
        if (now[i] > thread->counted.known[i])
            thread->counted.pending[i] += now[i] - thread->counted.known[i];
}

void col_thread_counters_leave(struct col_thread *thread)
{
    if (asked != 0)
        (void)read_counts(thread->counted.known);
}

void col_thread_counters_take(struct col_thread *thread, uint64_t *increments)
{
    for (unsigned i = 0; i < COL_THREAD_COUNTERS; i++)
        if (asked & counters[i].asked_by)
            *increments++ = thread->counted.pending[i];
    col_thread_counters_forget(thread);
}

void col_thread_counters_forget(struct col_thread *thread)
{
    memset(thread->counted.pending, 0, sizeof thread->counted.pending);
}
