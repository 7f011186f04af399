/*
 * split.c -- linked into a recorder by ld's --wrap: where the time of a tick goes inside the handler
 *
 * At exit it appends one line to the file COLLECTOR_SPLIT: the count of ticks, and nanoseconds a tick in the whole handler, in unwinding,
 * in writing, and in reading the thread's CPU clock. For programs of one thread.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "base/clock.h"
#include "experiment/open_frame.h"
#include "sample/sampler.h"
#include "sample/unwind.h"

enum part { HANDLER, UNWINDING, WRITING, CLOCK, PARTS };

static struct {
    unsigned long ticks, cycles[PARTS];
} self;

/* Of the types that the headers give: a wrapper that is out of date does not compile. */
__typeof__(col_sampler_tick) __real_col_sampler_tick, __wrap_col_sampler_tick;
__typeof__(col_unwind_walk_deep) __real_col_unwind_walk_deep, __wrap_col_unwind_walk_deep;
__typeof__(col_open_frame_add) __real_col_open_frame_add, __wrap_col_open_frame_add;
__typeof__(col_clock_thread_cpu) __real_col_clock_thread_cpu, __wrap_col_clock_thread_cpu;

void __wrap_col_sampler_tick(const ucontext_t *context, enum col_tick kind)
{
    unsigned long begun = __rdtsc();
    __real_col_sampler_tick(context, kind);
    self.cycles[HANDLER] += __rdtsc() - begun;
    self.ticks++;
}

size_t __wrap_col_unwind_walk_deep(const ucontext_t *context, struct col_stack_bounds *bounds, struct col_deep_stack *deep, uintptr_t *pcs, uintptr_t *sps, size_t max, enum col_stack_end *end)
{
    unsigned long begun = __rdtsc();
    size_t count = __real_col_unwind_walk_deep(context, bounds, deep, pcs, sps, max, end);
    self.cycles[UNWINDING] += __rdtsc() - begun;
    return count;
}

int __wrap_col_open_frame_add(struct col_open_frame *frame, uint64_t time_ns, const uint64_t *values, const uintptr_t *pcs, size_t count, unsigned end)
{
    unsigned long begun = __rdtsc();
    int error = __real_col_open_frame_add(frame, time_ns, values, pcs, count, end);
    self.cycles[WRITING] += __rdtsc() - begun;
    return error;
}

uint64_t __wrap_col_clock_thread_cpu(void)
{
    unsigned long begun = __rdtsc();
    uint64_t ns = __real_col_clock_thread_cpu();
    self.cycles[CLOCK] += __rdtsc() - begun;
    return ns;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned long begun_cycles;
static uint64_t begun_ns;

__attribute__((constructor)) static void begin(void)
{
    begun_ns = now_ns();
    begun_cycles = __rdtsc();
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("COLLECTOR_SPLIT");
    int fd = path && self.ticks ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
    double ns_a_cycle = (double)(now_ns() - begun_ns) / (double)(__rdtsc() - begun_cycles);
    if (fd < 0)
        return;
    dprintf(fd, "%lu", self.ticks);
    for (int part = 0; part < PARTS; part++)
        dprintf(fd, " %.1f", (double)self.cycles[part] * ns_a_cycle / (double)self.ticks);
    dprintf(fd, "\n");
    close(fd);
}
