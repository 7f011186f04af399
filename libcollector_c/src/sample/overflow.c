/* overflow.c -- events that are sampled whenever they have happened so many times, beside the clock */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/overflow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/os.h"
#include "experiment/event.h"
#include "sample/clock_event.h"

#define FIRST_SOURCE 0x10000u /* behind those of metrics */
#define FIRST_USE 2u          /* of what the launcher holds; the first two are the clock's */

struct event {
    struct col_clock_event_asked asked;
    int handle;
};

static struct {
    struct event events[COL_OVERFLOW_EVENTS];
    unsigned count;
} self;

/* The frames of a thread's block, whoever has it. */
struct col_overflow_frames {
    struct col_open_frame frames[COL_OVERFLOW_EVENTS];
    uint8_t private[];
};

static void declare(const struct col_clock_event_asked *event, uint32_t source, uint32_t pid)
{
    const char *values[] = {event->name};
    struct col_event_head head = {col_clock_now(), 0};
    struct col_event_pmcallocate allocate = {.source = source,
                                             .name = event->name,
                                             .clock = "overflow",
                                             .unit = "events",
                                             .period_ns = event->period,
                                             .effective_period_ns = event->period,
                                             .values = values,
                                             .value_count = 1,
                                             .counted_as = "overflows"};
    col_event_pmcallocate(head, &allocate);
    col_event_pmcattach(head, source, pid, 0);
}

static void tell_refused(const struct col_clock_event_asked *event, const char *why)
{
    char text[160];
    snprintf(text, sizeof text, "%s was not counted: %s", event->name, why);
    col_event_message((struct col_event_head){col_clock_now(), 0}, 1, text, 1, NULL);
}

void col_overflow_start(const char *events, uint32_t pid, bool is_possible)
{
    self.count = 0;
    for (struct col_clock_event_asked event; events != NULL && !is_possible;) {
        events = col_clock_event_parse(events, &event);
        tell_refused(&event, "the clock is not sigtrap");
    }
    while (events != NULL && self.count < COL_OVERFLOW_EVENTS) {
        unsigned number = self.count;
        struct event *event = &self.events[number];
        event->handle = -1;
        events = col_clock_event_parse(events, &event->asked);
        declare(&event->asked, FIRST_SOURCE + number, pid);
        self.count++; /* it may tick as soon as it is open */
        long handle =
            col_clock_event_open_overflow(pid, number + FIRST_USE, &event->asked, COL_CLOCK_OVERFLOW_MAGIC + number);
        if (handle < 0)
            tell_refused(&event->asked, strerror((int)-handle));
        else
            event->handle = (int)handle;
    }
}

int col_overflow_event_of(uint64_t data)
{
    uint64_t number = data - COL_CLOCK_OVERFLOW_MAGIC;
    return number < self.count ? (int)number : -1;
}

static struct col_overflow_frames *frames_of(struct col_thread *thread)
{
    size_t private_bytes = col_open_frame_private_bytes();
    if (thread->overflow == NULL)
        thread->overflow = col_os_map_memory(sizeof(struct col_overflow_frames) + COL_OVERFLOW_EVENTS * private_bytes);
    return thread->overflow;
}

static int acquire(struct col_thread *thread, struct col_overflow_frames *frames, unsigned event, uint64_t time_ns)
{
    struct col_open_frame *frame = &frames->frames[event];
    col_open_frame_prepare(frame, frames->private + event * col_open_frame_private_bytes());
    int error = col_open_frame_acquire(frame, thread->tid, FIRST_SOURCE + event, 1, time_ns);
    if (error == 0)
        thread->overflow_frames |= 1u << event;
    return error;
}

int col_overflow_add(struct col_thread *thread, unsigned event, uint64_t time_ns, const struct col_thread_stack *stack)
{
    struct col_overflow_frames *frames = frames_of(thread);
    if (frames == NULL)
        return -ENOMEM;
    int error = thread->overflow_frames & 1u << event ? 0 : acquire(thread, frames, event, time_ns);
    if (error == 0)
        error = col_open_frame_add(&frames->frames[event], time_ns, &self.events[event].asked.period, stack->pcs,
                                   stack->count, stack->end);
    if (error == -EBADF)
        thread->overflow_frames &= ~(1u << event); /* the log was closed and opened again */
    return error;
}

void col_overflow_release(struct col_thread *thread)
{
    for (unsigned event = 0; event < COL_OVERFLOW_EVENTS; event++)
        if (thread->overflow_frames & 1u << event)
            col_open_frame_release(&thread->overflow->frames[event]);
    thread->overflow_frames = 0;
}

void col_overflow_switch(bool is_on)
{
    for (unsigned event = 0; event < self.count; event++)
        col_clock_event_switch(self.events[event].handle, is_on);
}
