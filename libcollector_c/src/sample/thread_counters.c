/* thread_counters.c -- what is counted of a thread, read at its ticks where the user asked for it: page faults, context switches, perf events
 *
 * The kernel counts the first two anyway, and tells with one system call; so a fault or a switch costs nothing more, and a tick half a microsecond twice.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/thread_counters.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "sample/counter_group.h"

static const struct {
    unsigned asked_by;
    const char *name;
} counters[COL_USAGE_COUNTERS] = {{COL_COUNT_FAULTS, "minor_faults"},
                                  {COL_COUNT_FAULTS, "major_faults"},
                                  {COL_COUNT_SWITCHES, "voluntary_switches"},
                                  {COL_COUNT_SWITCHES, "involuntary_switches"}};

#define COUNTS_USAGE (COL_COUNT_FAULTS | COL_COUNT_SWITCHES)
#define COUNT_GROUP 4u

static unsigned asked;

void col_thread_counters_start(unsigned wanted, const char *events)
{
    asked = wanted;
    col_counter_group_start(events);
    if (col_counter_group_count() != 0)
        asked |= COUNT_GROUP;
}

uint32_t col_thread_counters_count(void)
{
    uint32_t count = col_counter_group_count();
    for (unsigned i = 0; i < COL_USAGE_COUNTERS; i++)
        count += (asked & counters[i].asked_by) != 0;
    return count;
}

void col_thread_counters_declare(const char **names)
{
    for (unsigned i = 0; i < COL_USAGE_COUNTERS; i++)
        if (asked & counters[i].asked_by)
            *names++ = counters[i].name;
    for (uint32_t i = 0; i < col_counter_group_count(); i++)
        *names++ = col_counter_group_name(i);
}

/* Of the calling thread. False if they cannot be had. */
static bool read_counts(uint64_t *counts)
{
    struct rusage usage;
    if ((asked & COUNTS_USAGE) == 0 || col_arch_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) != 0)
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
    if (!is_newborn)
        (void)read_counts(thread->counted.known);
    if (asked & COUNT_GROUP)
        col_counter_group_begin(thread);
}

void col_thread_counters_enter(struct col_thread *thread)
{
    uint64_t now[COL_USAGE_COUNTERS];
    if (asked & COUNT_GROUP)
        col_counter_group_enter(thread, thread->counted.pending + COL_USAGE_COUNTERS);
    if (!read_counts(now))
        return;
    for (unsigned i = 0; i < COL_USAGE_COUNTERS; i++)
        if (now[i] > thread->counted.known[i])
            thread->counted.pending[i] += now[i] - thread->counted.known[i];
}

void col_thread_counters_leave(struct col_thread *thread)
{
    (void)read_counts(thread->counted.known);
    if (asked & COUNT_GROUP)
        col_counter_group_leave(thread);
}

void col_thread_counters_end(struct col_thread *thread)
{
    if (asked & COUNT_GROUP)
        col_counter_group_end(thread);
}

void col_thread_counters_take(struct col_thread *thread, uint64_t *increments)
{
    for (unsigned i = 0; i < COL_USAGE_COUNTERS; i++)
        if (asked & counters[i].asked_by)
            *increments++ = thread->counted.pending[i];
    for (uint32_t i = 0; i < col_counter_group_count(); i++)
        *increments++ = thread->counted.pending[COL_USAGE_COUNTERS + i];
    col_thread_counters_forget(thread);
}

void col_thread_counters_forget(struct col_thread *thread)
{
    memset(thread->counted.pending, 0, sizeof thread->counted.pending);
}
