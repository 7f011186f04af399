/* context_switches.c -- when threads gave the processor away, where the user asked for it */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/context_switches.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "experiment/event.h"

#define RING_BYTES 65536u /* some two thousand switches between two ticks of the thread; the kernel counts those beyond */
#define MOST_AT_ONCE 4096

/* What the kernel writes when a thread is switched in or out. */
struct switch_record {
    struct perf_event_header header;
    uint64_t time_ns; /* sample_id: CLOCK_MONOTONIC, as asked */
};

/*
 * An event that counts nothing and records the thread's switches. Its descriptor is closed again: the mapping keeps the event alive, and the
 * program's table stays its own.
 */
static struct perf_event_mmap_page *open_ring(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_DUMMY, .sample_type = PERF_SAMPLE_TIME, .exclude_kernel = 1, .exclude_hv = 1,
        .context_switch = 1, .sample_id_all = 1, .use_clockid = 1, .clockid = CLOCK_MONOTONIC};
    long fd = col_arch_syscall(SYS_perf_event_open, (long)&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    long ring = col_arch_syscall(SYS_mmap, 0, (long)(col_os_page_bytes() + RING_BYTES), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    col_os_close((int)fd);
    if (ring < 0 && ring > -4096)
        return NULL;
    col_os_advise((void *)ring, col_os_page_bytes() + RING_BYTES, MADV_DONTFORK);
    return (struct perf_event_mmap_page *)ring;
}

static void read_counts(struct col_switches *switches, uint64_t *voluntary, uint64_t *involuntary)
{
    struct rusage usage;
    *voluntary = switches->voluntary_count;
    *involuntary = switches->involuntary_count;
    if (col_arch_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) == 0) {
        *voluntary = (uint64_t)usage.ru_nvcsw;
        *involuntary = (uint64_t)usage.ru_nivcsw;
    }
}

void col_context_switches_begin(struct col_thread *thread)
{
    struct col_switches *switches = &thread->switches;
    switches->is_on = true;
    switches->ring = open_ring();
    switches->in_ns = col_clock_now();
    switches->cpu_ns = col_clock_thread_cpu();
    read_counts(switches, &switches->voluntary_count, &switches->involuntary_count);
}

static void copy_out(const struct col_switches *switches, uint64_t at, void *out, size_t bytes)
{
    const unsigned char *data = (const unsigned char *)switches->ring + col_os_page_bytes();
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)out)[i] = data[(at + i) % RING_BYTES];
}

static void write_switch(struct col_thread *thread, uint64_t time_ns, uint32_t source, uint32_t pid, bool is_voluntary, uint64_t count)
{
    int error = col_event_proccsw((struct col_event_head){time_ns, thread->tid}, source, pid, thread->switches.cpu_ns / 1000, is_voluntary, count);
    if (error != 0)
        thread->drops[COL_DROP_NO_SPACE] += count;
}

/* CPU time runs between a switch in and the next one out. */
static void take_record(struct col_thread *thread, const struct switch_record *record, uint32_t source, uint32_t pid, bool is_wanted)
{
    struct col_switches *switches = &thread->switches;
    if (record->header.type == PERF_RECORD_LOST)
        thread->drops[COL_DROP_BUSY]++;
    if (record->header.type != PERF_RECORD_SWITCH)
        return;
    if ((record->header.misc & PERF_RECORD_MISC_SWITCH_OUT) == 0) {
        switches->in_ns = record->time_ns;
        return;
    }
    if (record->time_ns > switches->in_ns)
        switches->cpu_ns += record->time_ns - switches->in_ns;
    switches->in_ns = record->time_ns;
    if (is_wanted)
        write_switch(thread, record->time_ns, source, pid, (record->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) == 0, 1);
}

static void drain_ring(struct col_thread *thread, uint32_t source, uint32_t pid, bool is_wanted)
{
    struct perf_event_mmap_page *ring = thread->switches.ring;
    uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE), tail = ring->data_tail;
    for (unsigned i = 0; tail + sizeof(struct perf_event_header) <= head && i < MOST_AT_ONCE; i++) {
        struct switch_record record;
        copy_out(&thread->switches, tail, &record, sizeof record.header);
        if (record.header.size < sizeof record.header)
            break;
        copy_out(&thread->switches, tail, &record, record.header.size < sizeof record ? record.header.size : sizeof record);
        take_record(thread, &record, source, pid, is_wanted);
        tail += record.header.size;
    }
    __atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
}

static void drain_counts(struct col_thread *thread, uint32_t source, uint32_t pid, bool is_wanted)
{
    struct col_switches *switches = &thread->switches;
    uint64_t voluntary, involuntary, now_ns = col_clock_now();
    read_counts(switches, &voluntary, &involuntary);
    switches->cpu_ns = col_clock_thread_cpu();
    if (is_wanted && voluntary != switches->voluntary_count)
        write_switch(thread, now_ns, source, pid, true, voluntary - switches->voluntary_count);
    if (is_wanted && involuntary != switches->involuntary_count)
        write_switch(thread, now_ns, source, pid, false, involuntary - switches->involuntary_count);
    switches->voluntary_count = voluntary;
    switches->involuntary_count = involuntary;
}

void col_context_switches_drain(struct col_thread *thread, uint32_t source, uint32_t pid, bool is_wanted)
{
    if (!thread->switches.is_on)
        return;
    if (thread->switches.ring != NULL)
        drain_ring(thread, source, pid, is_wanted);
    else
        drain_counts(thread, source, pid, is_wanted);
}

void col_context_switches_end(struct col_thread *thread)
{
    if (thread->switches.ring != NULL)
        col_os_unmap(thread->switches.ring, col_os_page_bytes() + RING_BYTES);
    col_context_switches_forget(thread);
}

void col_context_switches_forget(struct col_thread *thread)
{
    thread->switches.ring = NULL;
    thread->switches.is_on = false;
}
