/* sampler.c -- what happens at a tick: enter, time, unwind, write, leave */
#include "sample/sampler.h"

#include <errno.h>
#include <sys/prctl.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "experiment/event.h"
#include "experiment/open_frame.h"
#include "sample/clock_source.h"
#include "sample/context_switches.h"
#include "sample/metrics.h"
#include "sample/recording.h"
#include "sample/unwind.h"

#define KERNEL_PATIENCE_NS 60000000u /* system time that waits for a slow tick to say where it passed: never more than this, nor than ... */
#define KERNEL_PATIENCE_SHARE 32    /* ... this part of the thread's CPU time */
#define US 1000u

static struct {
    uint32_t source;
    uint64_t period_ns;
    int walker_count;      /* threads that are walking their stacks */
    int unloading_count;   /* threads inside dlclose */
    uint64_t drop_count;
    bool has_context_switches;
    uint32_t pid;
} self;

void col_sampler_start(uint32_t source, uint64_t period_ns, bool has_context_switches)
{
    self.source = source;
    self.period_ns = period_ns;
    self.has_context_switches = has_context_switches;
    self.pid = (uint32_t)col_os_process_id();
}

/* User and system CPU time one sample stands for. */
struct weight {
    uint64_t user_ns, system_ns;
};

/* The event ticks once a period of CPU time, but only if that finds the thread in its own code: the ticks that are missing were system time. */
static struct weight weigh_user(struct col_thread *thread, uint64_t passed_ns)
{
    uint64_t periods = (passed_ns + self.period_ns / 2) / self.period_ns;
    uint64_t system_ns = periods > 1 ? (periods - 1) * self.period_ns : 0;
    thread->tick_count++;
    thread->kernel_ns += system_ns;
    uint64_t patience_ns = thread->cpu_ns / KERNEL_PATIENCE_SHARE;
    if (patience_ns > KERNEL_PATIENCE_NS)
        patience_ns = KERNEL_PATIENCE_NS;
    uint64_t overdue_ns = thread->kernel_ns > patience_ns ? thread->kernel_ns - patience_ns : 0;
    thread->kernel_ns -= overdue_ns;
    return (struct weight){passed_ns - system_ns, overdue_ns}; /* it passed nearby: page faults, mostly */
}

/* A thread that runs its own code and does not tick has lost its event: the program closed it behind our back. */
static void watch_event(struct col_thread *thread, uint64_t own_ns)
{
    thread->silent_ns = thread->tick_count == thread->slow_tick_count ? thread->silent_ns + own_ns : 0;
    thread->slow_tick_count = thread->tick_count;
    if (thread->silent_ns > 16 * self.period_ns) {
        col_clock_source_revive(thread);
        thread->silent_ns = 0;
    }
}

#define QUIET_ENOUGH 16            /* slow ticks without system time after which they come more rarely */
#define LOUD_ENOUGH_NS 8000000u    /* system time found meanwhile after which they come at every kernel tick again */

/* Where there is system time the slow timer keeps the kernel's pace, so that the account of each of its ticks can be told; where there is none it costs less. */
static void pace_slow_timer(struct col_thread *thread, bool has_system_time)
{
    thread->quiet_count = has_system_time ? 0 : thread->quiet_count + 1;
    if (thread->is_slow_timer_fast ? thread->quiet_count > QUIET_ENOUGH : thread->kernel_ns > LOUD_ENOUGH_NS)
        col_clock_source_pace(thread, !thread->is_slow_timer_fast);
}

/* What the thread is at: a system call is known by its instruction, a page fault by the kernel's account, which grows when its own tick finds it at work. */
static bool is_in_kernel(struct col_thread *thread, const ucontext_t *context, uint64_t slow_ns)
{
    uint64_t user_ns, system_ns, before_ns = thread->stime_ns;
    col_clock_thread_times(&user_ns, &system_ns);
    thread->stime_ns = system_ns;
    return col_arch_follows_syscall(context) || (system_ns - before_ns) * 4 >= slow_ns * (thread->is_slow_timer_fast ? 2 : 3);
}

/*
 * The slow timer shows where system time passed. Each of its ticks stands for the time since the last one, and takes no more system time than that: the few system
 * calls it meets must not be charged with the page faults.
 */
static struct weight weigh_slow(struct col_thread *thread, const ucontext_t *context, uint64_t passed_ns, uint64_t cpu_ns)
{
    uint64_t slow_ns = cpu_ns - thread->slow_cpu_ns, periods = passed_ns / self.period_ns;
    uint64_t waiting_ns = thread->kernel_ns + periods * self.period_ns;
    bool is_found = is_in_kernel(thread, context, slow_ns);
    struct weight weight = {0, 0};
    thread->slow_cpu_ns = cpu_ns;
    if (is_found) {
        weight.system_ns = waiting_ns < slow_ns ? waiting_ns : slow_ns;
        thread->kernel_ns = waiting_ns - weight.system_ns;
        thread->cpu_ns += periods * self.period_ns; /* the rest of the period belongs to the event's next tick */
    }
    pace_slow_timer(thread, is_found || waiting_ns != 0);
    watch_event(thread, is_found ? 0 : slow_ns);
    return weight;
}

/* A CPU timer fires with the kernel's own clock tick, which also decides what the kernel accounts: follow its account. */
static struct weight weigh_timer(struct col_thread *thread, const ucontext_t *context, uint64_t passed_ns)
{
    uint64_t user_ns, system_ns;
    col_clock_thread_times(&user_ns, &system_ns);
    uint64_t grown_ns = system_ns > thread->stime_ns ? system_ns - thread->stime_ns : 0;
    thread->stime_ns = system_ns;
    if (grown_ns == 0 && col_arch_follows_syscall(context))
        grown_ns = passed_ns;
    uint64_t kernel_ns = grown_ns < passed_ns ? grown_ns : passed_ns;
    return (struct weight){passed_ns - kernel_ns, kernel_ns};
}

static struct weight weigh(struct col_thread *thread, enum col_tick kind, const ucontext_t *context)
{
    uint64_t cpu_ns = col_clock_thread_cpu();
    uint64_t passed_ns = cpu_ns - thread->cpu_ns;
    if (kind == COL_TICK_SLOW)
        return weigh_slow(thread, context, passed_ns, cpu_ns);
    thread->cpu_ns = cpu_ns;
    return kind == COL_TICK_USER ? weigh_user(thread, passed_ns) : weigh_timer(thread, context, passed_ns);
}

/* Takes whole microseconds out of a sum of nanoseconds and leaves the rest for the next sample. */
static uint64_t whole_us(uint64_t *rest_ns, uint64_t ns)
{
    uint64_t sum_ns = *rest_ns + ns;
    *rest_ns = sum_ns % US;
    return sum_ns / US;
}

static enum col_drop_cause cause_of(int error)
{
    return error == -EFBIG ? COL_DROP_LOG_FULL : error == -ENOMEM ? COL_DROP_NO_MEMORY : COL_DROP_NO_SPACE;
}

static void write_sample(struct col_thread *thread, uint64_t time_ns, struct weight weight)
{
    int error = 0;
    if (!thread->has_frame) {
        error = col_open_frame_acquire(&thread->frame, thread->tid, self.source, time_ns);
        thread->has_frame = error == 0;
    }
    if (error == 0) {
        uint64_t user_us = whole_us(&thread->cpu_us_rest_ns, weight.user_ns);
        uint64_t system_us = whole_us(&thread->system_rest_ns, weight.system_ns);
        error = col_open_frame_add(&thread->frame, time_ns, user_us, system_us, thread->pcs, thread->last_count, thread->last_end);
    }
    if (error == -EBADF)
        thread->has_frame = false; /* the log was closed and opened again */
    if (error != 0)
        thread->drops[cause_of(error)]++;
    else
        thread->sample_count++;
}

/* Into thread->pcs. While an object is being unloaded its unwind table may vanish under us: the leaf must do. */
static void walk(struct col_thread *thread, const ucontext_t *context)
{
    enum col_stack_end end = COL_STACK_NO_UNWIND_INFO;
    __atomic_fetch_add(&self.walker_count, 1, __ATOMIC_SEQ_CST);
    bool is_unsafe = __atomic_load_n(&self.unloading_count, __ATOMIC_SEQ_CST) != 0 && !thread->is_unloading;
    thread->last_count = col_unwind_walk(context, &thread->bounds, thread->pcs, is_unsafe ? 1 : COL_THREAD_DEPTH, &end);
    __atomic_fetch_sub(&self.walker_count, 1, __ATOMIC_SEQ_CST);
    thread->last_end = is_unsafe ? COL_STACK_NO_UNWIND_INFO : end;
}

static void write_drops(struct col_thread *thread, uint64_t time_ns)
{
    for (unsigned cause = 1; cause < COL_DROP_CAUSES; cause++) {
        uint64_t count = thread->drops[cause];
        if (count != thread->drops_written[cause] && col_event_dropnotify((struct col_event_head){time_ns, thread->tid}, cause, count) == 0)
            thread->drops_written[cause] = count;
    }
}

/* A thread we were not told of (a bare clone), or the first tick after its begin. */
static void meet(struct col_thread *thread)
{
    if (!thread->is_announced)
        col_sampler_thread_begin(thread, 0);
}

void col_sampler_tick(const ucontext_t *context, enum col_tick kind)
{
    int saved_errno = errno;
    struct col_thread *thread = col_thread_enter();
    if (thread != NULL) {
        meet(thread);
        uint64_t time_ns = col_clock_now();
        struct weight weight = weigh(thread, kind, context);
        bool is_recording = col_recording_is_on_at(time_ns);
        col_context_switches_drain(thread, self.source, self.pid, is_recording);
        if (!is_recording)
            thread->kernel_ns = 0;
        else if (weight.user_ns + weight.system_ns != 0) {
            walk(thread, context);
            write_sample(thread, time_ns, weight);
            col_metrics_tick(time_ns, context, thread);
        }
        col_thread_leave(thread);
    }
    errno = saved_errno;
}

void col_sampler_thread_begin(struct col_thread *thread, uintptr_t start_address)
{
    char name[16] = "";
    thread->cpu_ns = thread->slow_cpu_ns = start_address != 0 ? 0 : col_clock_thread_cpu();
    thread->start_address = start_address;
    thread->is_announced = true;
    prctl(PR_GET_NAME, name);
    col_event_thr_create((struct col_event_head){col_clock_now(), thread->tid}, name, start_address);
    if (self.has_context_switches)
        col_context_switches_begin(thread);
}

/* System time that found no system call, and more than a period without a tick: it passed near where the thread was last seen. */
static void write_rest(struct col_thread *thread, uint64_t time_ns, uint64_t cpu_ns)
{
    struct weight weight = weigh_user(thread, cpu_ns - thread->cpu_ns);
    weight.system_ns += thread->kernel_ns;
    if (thread->last_count == 0 || weight.system_ns == 0 || col_clock_source_kind() == COL_CLOCK_TIMER)
        return;
    weight.user_ns = 0; /* less than a period: the reader spreads it over all of the thread's samples */
    write_sample(thread, time_ns, weight);
}

static void write_end(struct col_thread *thread, const char *name, uint64_t time_ns, uint64_t user_ns, uint64_t system_ns, bool is_exit)
{
    col_context_switches_end(thread);
    write_drops(thread, time_ns);
    for (unsigned cause = 1; cause < COL_DROP_CAUSES; cause++)
        __atomic_fetch_add(&self.drop_count, thread->drops[cause], __ATOMIC_RELAXED);
    if (thread->has_frame)
        col_open_frame_release(&thread->frame);
    thread->has_frame = false;
    if (thread->is_announced)
        col_event_thr_exit((struct col_event_head){time_ns, thread->tid}, name, user_ns, system_ns, is_exit);
}

void col_sampler_thread_end(struct col_thread *thread)
{
    char name[16] = "";
    uint64_t user_ns, system_ns, time_ns = col_clock_now();
    prctl(PR_GET_NAME, name);
    col_clock_thread_times(&user_ns, &system_ns);
    bool is_recording = col_recording_is_on_at(time_ns);
    col_context_switches_drain(thread, self.source, self.pid, is_recording);
    if (is_recording)
        write_rest(thread, time_ns, user_ns + system_ns);
    write_end(thread, name, time_ns, user_ns, system_ns, true);
}

struct closing {
    uint64_t time_ns;
    bool is_recording;
};

static void close_thread(struct col_thread *thread, void *argument)
{
    const struct closing *closing = argument;
    uint64_t cpu_ns = col_clock_cpu_of(thread->tid);
    char name[16] = "";
    col_os_thread_name(thread->tid, name, sizeof name);
    if (thread->switches.ring != NULL) /* counts can be asked for by the thread alone */
        col_context_switches_drain(thread, self.source, self.pid, closing->is_recording);
    if (closing->is_recording)
        write_rest(thread, closing->time_ns, cpu_ns);
    col_clock_source_thread_end(thread);
    write_end(thread, name, closing->time_ns, cpu_ns, 0, false);
}

static void set_unloading(bool is_unloading)
{
    struct col_thread *thread = col_thread_enter();
    if (thread == NULL)
        return;
    thread->is_unloading = is_unloading;
    col_thread_leave(thread);
}

void col_sampler_unload_begin(void)
{
    set_unloading(true);
    __atomic_fetch_add(&self.unloading_count, 1, __ATOMIC_SEQ_CST);
    for (unsigned turn = 0; turn < 10000 && __atomic_load_n(&self.walker_count, __ATOMIC_SEQ_CST) != 0; turn++)
        col_os_yield(); /* a walk takes microseconds; one that was put aside by the kernel gets its turn */
}

void col_sampler_unload_end(void)
{
    __atomic_fetch_sub(&self.unloading_count, 1, __ATOMIC_SEQ_CST);
    set_unloading(false);
}

uint64_t col_sampler_drop_count(void)
{
    return self.drop_count;
}

void col_sampler_close(bool is_recording)
{
    struct closing closing = {col_clock_now(), is_recording};
    uint64_t lost_count = col_thread_lost_count();
    col_thread_each_closing(close_thread, &closing);
    if (lost_count != 0)
        col_event_dropnotify((struct col_event_head){closing.time_ns, 0}, COL_DROP_NO_MEMORY, lost_count);
}
