/* overflow.c -- events that are sampled whenever they have happened so many times, beside the clock */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/overflow.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "experiment/event.h"
#include "sample/clock_event.h"
#include "sample/thread_frames.h"

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

static void declare(const struct col_clock_event_asked *event, uint32_t source, uint32_t pid)
{
    const char *values[] = {event->name};
    char counted_as[COL_CLOCK_EVENT_NAME_BYTES + sizeof "-samples"];
    snprintf(counted_as, sizeof counted_as, "%s-samples", event->name);
    struct col_event_head head = {col_clock_now(), 0};
    struct col_event_pmcallocate allocate = {.source = source,
                                             .name = event->name,
                                             .clock = "overflow",
                                             .unit = "events",
                                             .period_ns = event->period,
                                             .effective_period_ns = event->period,
                                             .values = values,
                                             .value_count = 1,
                                             .counted_as = counted_as};
    col_event_pmcallocate(head, &allocate);
    col_event_pmcattach(head, &(struct col_event_pmcattach){.source = source, .pid = pid});
}

static void tell_refused(const struct col_clock_event_asked *event, const char *why)
{
    char text[160];
    snprintf(text, sizeof text, "%s was not counted: %s", event->name, why);
    col_event_message((struct col_event_head){col_clock_now(), 0},
                      &(struct col_event_message){.severity = 1, .text = text, .count = 1});
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

int col_overflow_add(struct col_thread *thread, unsigned event, uint64_t time_ns, const struct col_thread_stack *stack)
{
    return col_thread_frames_add(thread, event, FIRST_SOURCE + event, time_ns, &self.events[event].asked.period, 1,
                                 stack);
}

void col_overflow_switch(bool is_on)
{
    for (unsigned event = 0; event < self.count; event++)
        col_clock_event_switch(self.events[event].handle, is_on);
}
