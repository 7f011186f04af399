/* tracer_watch.c -- a debugger or tracer is shown every signal: while there is one, nothing ticks */
#include "sample/tracer_watch.h"

#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/text_format.h"
#include "experiment/event.h"
#include "experiment/messages.h"
#include "sample/clock_source.h"
#include "sample/metrics.h"
#include "sample/recording.h"
#include "target/launcher.h"
#include "target/own_status.h"

#define SHORTEST_STOP_NS 10000u /* a tracer takes longer to let a thread go on */
#define LOOK_INTERVAL_NS                                                                                               \
    100000000u /* a look takes up to 80 us: where threads lose time all the while, less than a thousandth */

static struct {
    bool is_suspended;
    bool is_paused_by_us;
    bool is_surrendering; /* suspended for a tracer that the kernel does not know yet */
    uint64_t looked_ns;
    uint32_t suspension_count;
} self;

void col_tracer_watch_start(void)
{
    self.is_suspended = self.is_paused_by_us = self.is_surrendering = false;
    self.looked_ns = col_clock_now();
}

static struct col_event_head head_now(void)
{
    return (struct col_event_head){col_clock_now(), col_os_thread_id()};
}

static void explain(uint32_t tracer)
{
    char path[32], name[16] = "", text[100];
    col_text_print_into(path, sizeof path, "/proc/%u/comm", tracer);
    int fd = tracer != 0 ? col_os_open(path, O_RDONLY, 0) : -1;
    ssize_t length = fd >= 0 ? col_os_read(fd, name, sizeof name - 1) : 0;
    if (fd >= 0)
        col_os_close(fd);
    name[length > 0 ? length - 1 : 0] = '\0';
    col_text_print_into(text, sizeof text, "recording was paused while %s traced the program",
                        name[0] != '\0' ? name : "another process");
    col_messages_say(COL_MESSAGE_WARNING, NULL, text);
}

static void suspend(uint32_t tracer, int patience_ms)
{
    self.is_suspended = true;
    self.suspension_count++;
    col_clock_source_suspend(patience_ms);
    if (col_recording_change(COL_RECORDING_ON, COL_RECORDING_PAUSED)) {
        self.is_paused_by_us = true;
        col_metrics_break();
        col_event_pause(head_now(), &(struct col_event_pause){.cause = COL_PAUSE_TRACER});
    }
    explain(tracer);
}

static void resume(void)
{
    self.is_suspended = false;
    col_clock_source_resume();
    if (self.is_paused_by_us && col_recording_change(COL_RECORDING_PAUSED, COL_RECORDING_ON))
        col_event_resume(head_now(), &(struct col_event_resume){.cause = COL_PAUSE_TRACER});
    self.is_paused_by_us = false;
}

static void look(uint64_t time_ns)
{
    __atomic_store_n(&self.looked_ns, time_ns, __ATOMIC_RELAXED);
    uint32_t tracer = col_own_status_read().tracer;
    if (tracer != 0 && self.is_suspended)
        col_clock_source_suspend(0); /* of an event that was opened or switched on meanwhile */
    else if (tracer != 0)
        suspend(tracer, 0);
    else if (self.is_suspended && !__atomic_load_n(&self.is_surrendering, __ATOMIC_RELAXED))
        resume();
}

static bool is_time_to_look(uint64_t time_ns)
{
    return time_ns - __atomic_load_n(&self.looked_ns, __ATOMIC_RELAXED) >= LOOK_INTERVAL_NS;
}

void col_tracer_watch_look(enum col_tick kind, uint64_t time_ns)
{
    if (kind == COL_TICK_SLOW && !self.is_suspended && is_time_to_look(time_ns))
        look(time_ns);
}

bool col_tracer_watch_tick(struct col_thread *thread, uint64_t time_ns)
{
    int64_t off_ns = (int64_t)(thread->time_ns - thread->cpu_ns), lost_ns = off_ns - thread->off_cpu_ns;
    thread->off_cpu_ns = off_ns;
    bool has_missed = thread->suspension_count != self.suspension_count;
    thread->suspension_count = self.suspension_count;
    if (self.is_suspended || (lost_ns >= (int64_t)SHORTEST_STOP_NS && is_time_to_look(time_ns)))
        look(time_ns);
    return has_missed || self.is_suspended;
}

bool col_tracer_watch_surrender(void)
{
    if (self.is_suspended || col_clock_source_kind() == COL_CLOCK_OFF)
        return false;
    __atomic_store_n(&self.is_surrendering, true, __ATOMIC_RELAXED);
    suspend((uint32_t)col_os_parent_id(), COL_LAUNCHER_PATIENCE_MS);
    return true;
}

void col_tracer_watch_surrendered(bool is_traced)
{
    if (!is_traced)
        resume();
    __atomic_store_n(&self.is_surrendering, false, __ATOMIC_RELAXED);
}
