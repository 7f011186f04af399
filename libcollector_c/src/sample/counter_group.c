/* counter_group.c -- perf events of a thread that are read together at its ticks, where the user asked for them */
#include "sample/counter_group.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/text_format.h"
#include "experiment/event.h"
#include "sample/clock_event.h"
#include "target/descriptors.h"

#define FIRST_USE 8u /* of what the launcher holds, behind those of sample/overflow.c */
#define MOST_OPENINGS                                                                                                  \
    3 /* in a thread: the program may close its descriptor, and a clock that dies takes the others along */
#define WHOLE_PERCENT 99

static struct {
    struct col_clock_event_asked events[COL_GROUP_EVENTS];
    uint32_t count;
    bool is_allowed;
    bool is_refused;                 /* and that was told */
    uint64_t enabled_ns, running_ns; /* of all threads */
} self;

void col_counter_group_start(const char *events)
{
    self.count = 0;
    self.is_allowed = self.is_refused = false;
    self.enabled_ns = self.running_ns = 0;
    while (events != NULL && self.count < COL_GROUP_EVENTS)
        events = col_clock_event_parse(events, &self.events[self.count++]);
}

void col_counter_group_allow(void)
{
    self.is_allowed = self.count != 0;
}

uint32_t col_counter_group_count(void)
{
    return self.count;
}

const char *col_counter_group_name(uint32_t event)
{
    return self.events[event].name;
}

/* One that does not answer as it should is no longer what was opened. */
static bool read_group(const struct col_group *group, struct col_group_reading *reading)
{
    struct {
        uint64_t count;
        struct col_group_reading reading;
    } answer;
    size_t bytes = sizeof answer.count + 2 * sizeof(uint64_t) + self.count * sizeof(uint64_t);
    int fd = group->leader < 0 ? -1 : col_descriptors_current(group->leader);
    if (fd < 0 || col_arch_syscall(SYS_read, fd, (long)&answer, (long)bytes, 0, 0, 0) != (long)bytes ||
        answer.count != self.count)
        return false;
    *reading = answer.reading;
    return true;
}

static void close_group(struct col_group *group)
{
    if (group->leader < 0)
        return;
    col_descriptors_close(group->leader);
    for (uint32_t i = 1; i < self.count; i++)
        col_descriptors_close(group->members[i]);
    group->leader = -1;
}

/* Once in a process. */
static void tell_refused(const char *name, int error)
{
    char text[160];
    if (__atomic_exchange_n(&self.is_refused, true, __ATOMIC_RELAXED))
        return;
    col_text_print_into(text, sizeof text, "the counters were not read: the kernel refused %s (error %d)", name,
                        (unsigned)error);
    col_event_message((struct col_event_head){col_clock_now(), 0},
                      &(struct col_event_message){.severity = 1, .text = text, .count = 1});
}

static bool open_group(struct col_thread *thread)
{
    struct col_group *group = &thread->group;
    int fds[COL_GROUP_EVENTS];
    uint32_t count = 0;
    long fd = 0;
    for (; count < self.count && fd >= 0; count += fd >= 0) {
        fd = col_clock_event_open_counter(&self.events[count], count == 0 ? -1 : fds[0]);
        fds[count] = (int)fd;
    }
    if (fd < 0)
        tell_refused(self.events[count].name, (int)-fd);
    group->leader = -1;
    for (uint32_t i = count; i-- > 0;) /* the first last: the others belong to it */
        if (fd < 0)
            col_os_close(fds[i]);
        else if (i > 0)
            group->members[i] = col_descriptors_hand_over(fds[i], thread->tid, FIRST_USE + i);
        else
            group->leader = col_descriptors_adopt(fds[i]);
    return group->leader >= 0;
}

/* Another one, if there have not been too many; what it has counted before is nobody's. */
static void open_anew(struct col_thread *thread)
{
    struct col_group *group = &thread->group;
    close_group(group);
    if (!self.is_allowed || group->opening_count >= MOST_OPENINGS)
        return;
    group->opening_count++;
    if (!open_group(thread) || !read_group(group, &group->known))
        close_group(group);
    group->entered = group->known;
}

void col_counter_group_begin(struct col_thread *thread)
{
    if (!read_group(&thread->group, &thread->group.known))
        open_anew(thread);
    thread->group.entered = thread->group.known;
}

/* So many as there would have been had the group counted all the time. */
static uint64_t scaled(uint64_t value, uint64_t enabled_ns, uint64_t running_ns)
{
    if (running_ns >= enabled_ns)
        return value;
    for (; enabled_ns >> 32 != 0; enabled_ns >>= 1)
        running_ns = running_ns / 2 + running_ns % 2;
    return value / running_ns * enabled_ns + value % running_ns * enabled_ns / running_ns;
}

void col_counter_group_enter(struct col_thread *thread, uint64_t *pending)
{
    struct col_group *group = &thread->group;
    struct col_group_reading now, *known = &group->known;
    if (!read_group(group, &now)) {
        open_anew(thread);
        return;
    }
    group->entered = now;
    uint64_t enabled_ns = now.enabled_ns - known->enabled_ns, running_ns = now.running_ns - known->running_ns;
    if (running_ns == 0)
        return; /* it was not its turn: its next one stands for this time as well */
    for (uint32_t i = 0; i < self.count; i++)
        pending[i] += scaled(now.values[i] - known->values[i], enabled_ns, running_ns);
    __atomic_fetch_add(&self.enabled_ns, enabled_ns, __ATOMIC_RELAXED);
    __atomic_fetch_add(&self.running_ns, running_ns, __ATOMIC_RELAXED);
    *known = now;
}

void col_counter_group_leave(struct col_thread *thread)
{
    struct col_group *group = &thread->group;
    struct col_group_reading now, *known = &group->known, *entered = &group->entered;
    if (group->leader < 0 || !read_group(group, &now))
        return;
    known->enabled_ns += now.enabled_ns - entered->enabled_ns;
    known->running_ns += now.running_ns - entered->running_ns;
    for (uint32_t i = 0; i < self.count; i++)
        known->values[i] += now.values[i] - entered->values[i];
}

void col_counter_group_end(struct col_thread *thread)
{
    struct col_group_reading now, *known = &thread->group.known;
    if (thread->group.leader >= 0 && read_group(&thread->group, &now) && now.running_ns == known->running_ns)
        __atomic_fetch_add(&self.enabled_ns, now.enabled_ns - known->enabled_ns, __ATOMIC_RELAXED);
    close_group(&thread->group);
}

/* In tens of percent, so that the processes of a build say few different sentences. */
void col_counter_group_close(void)
{
    char text[200];
    uint64_t percent = self.enabled_ns / 100 == 0 ? 100 : self.running_ns / (self.enabled_ns / 100);
    unsigned tens = (unsigned)(percent / 10 * 10);
    if (percent > WHOLE_PERCENT)
        return;
    if (self.running_ns == 0)
        col_text_print_into(text, sizeof text,
                            "the counters never counted: the processor has not enough for all that were asked for");
    else
        col_text_print_into(
            text, sizeof text,
            "the counters took turns with others: they counted %u to %u %% of the time, and are scaled to all of it",
            tens, tens + 10);
    col_event_message((struct col_event_head){col_clock_now(), 0},
                      &(struct col_event_message){.severity = 1, .text = text, .count = 1});
}
