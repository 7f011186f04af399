/* clock_source.c -- what makes threads tick: the ladder of clocks, and which rung this system allows */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/clock_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/os_signal.h"
#include "experiment/event.h"
#include "sample/cpu_timer.h"
#include "sample/exact_waits.h"
#include "sample/overflow.h"
#include "sample/thread_counters.h"
#include "target/descriptors.h"
#include "target/launcher.h"
#include "target/own_status.h"

#define FAST_PERIOD_NS 2000000u  /* of the slow timer: less than a kernel tick, usually, so that it misses none */
#define SHORTEST_EVENT_NS 10000u /* the kernel's own floor for its timer-driven events */
#define FRUITLESS_RENEWALS 2     /* of a clock that has never ticked here; then the next rung is tried */

static struct {
    enum col_clock_kind kind;
    uint64_t period_ns;
    uint32_t source; /* id of the clock in the log */
    bool is_suspended;
    bool is_stopped;    /* the event, for now */
    int stop_count;     /* so often it was */
    int event;          /* handle of the inherited event of the first rung */
    bool is_on;         /* new threads are to tick */
    bool is_kernel_fit; /* for sigtrap */
    bool has_ticked;    /* the present rung works here */
    unsigned renewals;  /* events opened anew because none ticked */
} self = {.kind = COL_CLOCK_OFF, .event = -1};

static const char *const names[] = {"auto", "sigtrap", "task-clock", "cpu-timer", "off"};

const char *col_clock_source_name(enum col_clock_kind kind)
{
    return names[kind];
}

enum col_clock_kind col_clock_source_named(const char *name, size_t length)
{
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return (enum col_clock_kind)i;
    return COL_CLOCK_AUTO;
}

static uint64_t timer_period_ns(void)
{
    return self.kind == COL_CLOCK_TIMER ? self.period_ns : FAST_PERIOD_NS;
}

/* ---- signals ---- */

/* The fields of TRAP_PERF, which C library headers do not all have. */
static uint64_t perf_data_of(const siginfo_t *info)
{
    uint64_t data;
    memcpy(&data, (const char *)info + 24, sizeof data);
    return data;
}

/* The first tick of a rung proves it. */
static int note_tick(void)
{
    if (!__atomic_load_n(&self.has_ticked, __ATOMIC_RELAXED))
        __atomic_store_n(&self.has_ticked, true, __ATOMIC_RELAXED);
    return COL_TICK_USER;
}

int col_clock_source_tick_of(int signo, const siginfo_t *info)
{
    if (signo == COL_CLOCK_EVENT_SIGNAL) {
        uint64_t data = info->si_code == COL_OS_TRAP_PERF ? perf_data_of(info) : 0;
        int event = col_overflow_event_of(data);
        if (event >= 0)
            return COL_TICK_OVERFLOW + event;
        if (data == COL_CLOCK_SWITCH_MAGIC)
            return COL_TICK_SWITCH;
        if (data == COL_CLOCK_BACKUP_MAGIC)
            return COL_TICK_BACKUP;
        return data == COL_CLOCK_EVENT_MAGIC ? note_tick() : data == COL_CLOCK_FAULT_MAGIC ? COL_TICK_FAULTS : -1;
    }
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == (void *)COL_CLOCK_EVENT_MAGIC)
        return self.kind == COL_CLOCK_TIMER ? COL_TICK_TIMER : COL_TICK_SLOW;
    if (info->si_code >= POLL_IN && info->si_code <= POLL_HUP && col_clock_event_has_signalled_as(info->si_fd))
        return note_tick();
    return -1;
}

/* ---- the ladder ---- */

static unsigned take_number(char **text)
{
    unsigned number = 0;
    for (; **text >= '0' && **text <= '9'; (*text)++)
        number = number * 10 + (unsigned)(**text - '0');
    return number;
}

/* Kernels before 5.19 killed a program whose SIGTRAP was blocked when the event fired. */
static bool is_kernel_fit(void)
{
    struct utsname name;
    if (uname(&name) != 0)
        return false;
    char *rest = name.release;
    unsigned major = take_number(&rest), minor = *rest++ == '.' ? take_number(&rest) : 0;
    return major > 5 || (major == 5 && minor >= 19);
}

static void explain(char *detail, size_t bytes, const char *rung, const char *why)
{
    size_t used = strlen(detail);
    snprintf(detail + used, bytes - used, "%s%s: %s", used != 0 ? "; " : "", rung, why);
}

/* Whether a rung ticks is not tried out here: that costs CPU time of the program, and on a busy machine it would be found not to. The slow timer watches. */
static bool try_sigtrap(char *detail, size_t bytes)
{
    long event = self.is_kernel_fit ? col_clock_event_open_inherited(0) : 0;
    if (!self.is_kernel_fit)
        explain(detail, bytes, "sigtrap", "needs Linux 5.19");
    else if (event < 0)
        explain(detail, bytes, "sigtrap", strerror((int)-event));
    else
        self.event = (int)event;
    return self.event >= 0;
}

static bool try_task_clock(struct col_thread *thread, char *detail, size_t bytes)
{
    long event = col_clock_event_open_thread(thread->tid);
    thread->event = event < 0 ? -1 : (int)event;
    if (event < 0)
        explain(detail, bytes, "task-clock", strerror((int)-event));
    return event >= 0;
}

/* The log is told which clock it is, again when another one takes over. */
static void announce(const char *detail)
{
    uint64_t shortest_ns = col_clock_source_shortest_ns(self.kind);
    const char *values[COL_CLOCK_VALUES + COL_THREAD_COUNTERS] = {"user ns", "system ns", "missing ns"};
    col_thread_counters_declare(values + COL_CLOCK_VALUES);
    struct col_event_pmcallocate source = {.source = self.source,
                                           .name = "cpu",
                                           .clock = col_clock_source_name(self.kind),
                                           .unit = "us",
                                           .period_ns = self.period_ns,
                                           .effective_period_ns =
                                               self.period_ns < shortest_ns ? shortest_ns : self.period_ns,
                                           .detail = detail,
                                           .values = values,
                                           .value_count = COL_CLOCK_VALUES + col_thread_counters_count()};
    col_event_pmcallocate((struct col_event_head){col_clock_now(), 0}, &source);
}

static enum col_clock_kind choose(enum col_clock_kind asked, struct col_thread *thread, char *detail, size_t bytes)
{
    if (asked != COL_CLOCK_OFF && col_own_status_may_be_traced() &&
        col_own_status_read().tracer != 0) { /* it would be shown every tick */
        explain(detail, bytes, "all clocks", "a debugger is attached");
        asked = COL_CLOCK_OFF;
    }
    if (asked == COL_CLOCK_OFF)
        return COL_CLOCK_OFF;
    if (asked <= COL_CLOCK_SIGTRAP && try_sigtrap(detail, bytes))
        return COL_CLOCK_SIGTRAP;
    return asked <= COL_CLOCK_TASK && try_task_clock(thread, detail, bytes) ? COL_CLOCK_TASK : COL_CLOCK_TIMER;
}

enum col_clock_kind col_clock_source_start(enum col_clock_kind asked, uint32_t source, uint64_t period_ns,
                                           struct col_thread *thread)
{
    char detail[256] = "";
    self.period_ns = period_ns;
    col_clock_event_start(period_ns);
    self.source = source;
    self.has_ticked = false;
    self.renewals = 0;
    self.is_kernel_fit = is_kernel_fit();
    self.is_suspended = self.is_stopped = false;
    self.stop_count = 0;
    col_cpu_timer_seed((uint32_t)col_clock_now() ^ thread->tid << 16);
    self.kind = choose(asked, thread, detail, sizeof detail);
    if (self.kind != COL_CLOCK_OFF)
        thread->timer = col_cpu_timer_start(timer_period_ns(), thread->tid);
    if (self.kind == COL_CLOCK_TIMER && thread->timer < 0) {
        explain(detail, sizeof detail, "cpu-timer", strerror(-thread->timer));
        self.kind = COL_CLOCK_OFF;
    }
    thread->clock = (int)self.kind;
    self.is_on = self.kind != COL_CLOCK_OFF;
    announce(detail);
    return self.kind;
}

enum col_clock_kind col_clock_source_kind(void)
{
    return self.kind;
}

uint64_t col_clock_source_shortest_ns(enum col_clock_kind kind)
{
    return kind == COL_CLOCK_TIMER ? col_cpu_timer_resolution_ns() : SHORTEST_EVENT_NS;
}

void col_clock_source_thread_begin(struct col_thread *thread)
{
    if (!self.is_on || self.is_suspended)
        return;
    thread->stop_count = self.is_stopped ? self.stop_count - 1 : self.stop_count;
    if (self.kind == COL_CLOCK_TASK && thread->event < 0 && !self.is_stopped) {
        long event = col_clock_event_open_thread(thread->tid);
        thread->event = event < 0 ? -1 : (int)event;
    }
    if (thread->timer < 0)
        thread->timer = col_cpu_timer_start(timer_period_ns(), thread->tid);
    thread->clock = (int)self.kind;
}

void col_clock_source_thread_end(struct col_thread *thread)
{
    col_cpu_timer_delete(thread->timer);
    col_descriptors_close(thread->event);
    col_descriptors_close(thread->faults);
    col_clock_event_close_backup(thread->backup, thread->tid);
    col_exact_waits_end(thread);
    thread->timer = thread->event = thread->faults = thread->backup = -1;
}

void col_clock_source_count_faults(struct col_thread *thread)
{
    long event = self.is_kernel_fit ? col_clock_event_open_faults(thread->tid) : -1;
    thread->faults = event < 0 ? -2 : (int)event;
}

void col_clock_source_back_up(struct col_thread *thread, bool is_on)
{
    if (!is_on) {
        col_clock_event_close_backup(thread->backup, thread->tid);
        thread->backup = -1;
        return;
    }
    long event = self.is_kernel_fit ? col_clock_event_open_backup(thread->tid) : -ENOSYS;
    thread->backup = event < 0 ? -2 : (int)event;
}

void col_clock_source_pace(struct col_thread *thread, bool is_fast)
{
    uint64_t period_ns = is_fast ? FAST_PERIOD_NS : COL_SLOW_PERIOD_NS;
    if (!self.is_suspended && col_cpu_timer_set(thread->timer, period_ns))
        thread->is_slow_timer_fast = is_fast;
}

/* Closes the event of the process; what the launcher has is closed by the launcher, which is waited for. */
static bool let_go(int patience_ms)
{
    col_descriptors_close(__atomic_exchange_n(&self.event, -1, __ATOMIC_ACQ_REL));
    return col_clock_event_release(patience_ms);
}

static const char *const step_details[] = {
    [COL_CLOCK_TASK] = "sigtrap: did not tick", [COL_CLOCK_TIMER] = "perf events: did not tick"};

/* Of several threads that find the clock dead one takes the step. */
static void step_down(enum col_clock_kind from)
{
    int expected = (int)from;
    if (!__atomic_compare_exchange_n((int *)&self.kind, &expected, (int)from + 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&self.has_ticked, false, __ATOMIC_RELAXED);
    __atomic_store_n(&self.renewals, 0, __ATOMIC_RELAXED);
    let_go(0);
    announce(step_details[from + 1]);
}

/* A new event for the thread, of the present rung; false if the kernel refuses it. */
static bool renew(struct col_thread *thread)
{
    col_descriptors_close(thread->event);
    long event = self.kind == COL_CLOCK_SIGTRAP ? col_clock_event_open_inherited(thread->tid)
                                                : col_clock_event_open_thread(thread->tid);
    thread->event = event < 0 ? -1 : (int)event;
    return event >= 0;
}

bool col_clock_source_stop_event(void)
{
    struct col_thread *thread;
    /* This first: nobody is to open another one. */
    if (self.is_suspended || __atomic_exchange_n(&self.is_stopped, true, __ATOMIC_SEQ_CST))
        return false;
    __atomic_add_fetch(&self.stop_count, 1, __ATOMIC_SEQ_CST);
    col_descriptors_close(__atomic_exchange_n(&self.event, -1, __ATOMIC_ACQ_REL));
    for (uint32_t next = 0; (thread = col_thread_each(&next)) != NULL;)
        col_clock_event_switch(thread->event, false); /* it is the thread's to close */
    col_clock_event_stop_clock();
    return true;
}

void col_clock_source_restart_event(void)
{
    __atomic_store_n(&self.is_stopped, false, __ATOMIC_SEQ_CST);
}

bool col_clock_source_is_event_stopped(void)
{
    return __atomic_load_n(&self.is_stopped, __ATOMIC_RELAXED);
}

bool col_clock_source_has_event(const struct col_thread *thread)
{
    return self.kind != COL_CLOCK_TIMER && thread->stop_count == __atomic_load_n(&self.stop_count, __ATOMIC_ACQUIRE);
}

void col_clock_source_revive(struct col_thread *thread)
{
    enum col_clock_kind kind = self.kind;
    if (!self.is_on || self.is_suspended || kind == COL_CLOCK_TIMER)
        return;
    bool is_given_up =
        !self.has_ticked && __atomic_fetch_add(&self.renewals, 1, __ATOMIC_RELAXED) >= FRUITLESS_RENEWALS;
    if (is_given_up || !renew(thread))
        step_down(kind);
}

void col_clock_source_follow(struct col_thread *thread)
{
    bool is_wanted = self.kind != COL_CLOCK_TIMER && !self.is_stopped && !col_clock_source_has_event(thread);
    if (!self.is_on || self.is_suspended || (thread->clock == (int)self.kind && !is_wanted))
        return;
    col_descriptors_close(thread->event);
    thread->event = -1;
    col_clock_source_thread_begin(thread);
    if (is_wanted && self.kind == COL_CLOCK_SIGTRAP)
        renew(thread);
    if (self.kind == COL_CLOCK_TIMER)
        col_cpu_timer_set(thread->timer, timer_period_ns());
}

static void switch_thread(struct col_thread *thread, bool is_on)
{
    uint64_t period_ns =
        self.kind != COL_CLOCK_TIMER && !thread->is_slow_timer_fast ? COL_SLOW_PERIOD_NS : timer_period_ns();
    col_clock_event_switch(thread->event, is_on);
    col_clock_event_switch(thread->faults, is_on);
    col_clock_event_switch(thread->backup, is_on);
    col_clock_event_switch(thread->waits.event, is_on);
    col_cpu_timer_set(thread->timer, is_on ? period_ns : 0);
}

static void switch_threads(bool are_on)
{
    struct col_thread *thread;
    for (uint32_t next = 0; (thread = col_thread_each(&next)) != NULL;)
        switch_thread(thread, are_on);
}

void col_clock_source_suspend(int patience_ms)
{
    struct col_thread *thread = self.is_on && self.is_stopped ? col_thread_current() : NULL;
    if (thread != NULL) { /* once nobody traces any more the launcher enables its events, and their tick tells */
        col_clock_source_restart_event();
        thread->stop_count = self.stop_count;
        renew(thread);
    }
    __atomic_store_n(&self.is_suspended, true, __ATOMIC_RELEASE);
    col_clock_event_switch(self.event, false);
    col_overflow_switch(false);
    switch_threads(false);
    col_clock_event_suspend(patience_ms);
}

void col_clock_source_resume(void)
{
    __atomic_store_n(&self.is_suspended, false, __ATOMIC_RELEASE);
    col_clock_event_switch(self.event, true);
    col_overflow_switch(true);
    switch_threads(true);
}

void col_clock_source_end(void)
{
    self.is_on = false;
    col_descriptors_close(self.event);
    self.event = -1;
}

bool col_clock_source_stop(void)
{
    self.is_on = false;
    bool is_done = let_go(COL_LAUNCHER_PATIENCE_MS);
    if (!is_done) /* no descriptor for a message, or nobody who reads it: then all events that this thread has opened, the program's own too */
        col_arch_syscall(SYS_prctl, PR_TASK_PERF_EVENTS_DISABLE, 0, 0, 0, 0, 0);
    col_descriptors_close_all();
    return is_done;
}

void col_clock_source_forget(void)
{
    col_descriptors_close_all();
    self.event = -1;
    self.is_on = false;
    self.kind = COL_CLOCK_OFF;
}
