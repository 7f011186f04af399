/* context_switches.c -- how often threads gave the processor away, where the user asked for it */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/context_switches.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/text_format.h"
#include "experiment/event.h"

struct counts {
    uint64_t voluntary, involuntary;
};

static uint64_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    uint64_t number = 0;
    for (at = at != NULL ? at + strlen(name) : ""; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

/* Of another thread, when the log is closed. */
static void read_file(uint32_t tid, struct counts *counts)
{
    char path[64], text[4096];
    col_text_print_into(path, sizeof path, "/proc/self/task/%u/status", tid);
    int fd = col_os_open(path, O_RDONLY, 0);
    ssize_t bytes = fd < 0 ? 0 : col_os_read(fd, text, sizeof text - 1);
    if (fd >= 0)
        col_os_close(fd);
    text[bytes > 0 ? bytes : 0] = '\0';
    uint64_t voluntary = number_after(text, "\nvoluntary_ctxt_switches:\t"),
             involuntary = number_after(text, "\nnonvoluntary_ctxt_switches:\t");
    if (voluntary >= counts->voluntary && involuntary >= counts->involuntary) /* it has not ended meanwhile */
        *counts = (struct counts){voluntary, involuntary};
}

static struct counts read_counts(const struct col_thread *thread)
{
    struct rusage usage;
    struct counts counts = {thread->switches.voluntary_count, thread->switches.involuntary_count};
    if (thread->tid != col_os_thread_id())
        read_file(thread->tid, &counts);
    else if (col_arch_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) == 0)
        counts = (struct counts){(uint64_t)usage.ru_nvcsw, (uint64_t)usage.ru_nivcsw};
    return counts;
}

static void keep(struct col_switches *switches, struct counts counts)
{
    switches->voluntary_count = counts.voluntary;
    switches->involuntary_count = counts.involuntary;
}

void col_context_switches_begin(struct col_thread *thread)
{
    thread->switches.is_on = true;
    keep(&thread->switches, read_counts(thread));
}

/* What the log has no room for is told with the next ones. */
static uint64_t write_count(struct col_thread *thread, uint32_t source, uint32_t pid, bool is_voluntary, uint64_t count)
{
    struct col_event_head head = {col_clock_now(), thread->tid};
    if (count == 0 ||
        col_event_proccsw(head, source, pid, col_clock_cpu_of(thread->tid) / 1000, is_voluntary, count) == 0)
        return 0;
    return count;
}

void col_context_switches_drain(struct col_thread *thread, uint32_t source, uint32_t pid, bool is_wanted)
{
    struct col_switches *switches = &thread->switches;
    if (!switches->is_on)
        return;
    struct counts counts = read_counts(thread);
    if (is_wanted) {
        counts.voluntary -= write_count(thread, source, pid, true, counts.voluntary - switches->voluntary_count);
        counts.involuntary -= write_count(thread, source, pid, false, counts.involuntary - switches->involuntary_count);
    }
    keep(switches, counts);
}

void col_context_switches_end(struct col_thread *thread)
{
    thread->switches.is_on = false;
}
