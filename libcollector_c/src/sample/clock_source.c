/* clock_source.c -- what makes threads tick: the ladder of clocks, and which rung this system allows */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/clock_source.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "sample/weight.h"
#include "target/descriptors.h"

#define MAGIC 0x636f6c6c6563746fULL /* in signals of ours: "collecto" */
#define TEST_PATIENCE_NS 1000000u
#define FAST_PERIOD_NS 2000000u /* of the slow timer: less than a kernel tick, usually, so that it misses none */
#define SLOW_PERIOD_NS 20000000u
#define SHORTEST_EVENT_NS 10000u /* the kernel's own floor for its timer-driven events */
#define TEST_PERIOD_NS SHORTEST_EVENT_NS /* whoever tests waits for it */
#define TRAP_PERF_CODE 6

static struct {
    enum col_clock_kind kind;
    uint64_t period_ns;
    int event;      /* handle of the inherited event of the first rung */
    bool is_on;     /* new threads are to tick */
    bool is_sigtrap_proven; /* here, or in a process that we come from */
    int tested;     /* handle of the event that is being tested, or -1 */
    bool has_passed; /* it ticked, and goes on at the period that was asked for */
    uint32_t random;
} self = {.kind = COL_CLOCK_OFF, .event = -1, .tested = -1};

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

/* ---- perf events ---- */

static long control_event(int event, unsigned long request, const uint64_t *argument)
{
    return col_arch_syscall(SYS_ioctl, col_descriptors_current(event), (long)request, (long)argument, 0, 0, 0);
}

static long open_event(uint64_t period_ns, bool is_sigtrap, bool is_on)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = period_ns, .disabled = !is_on, .exclude_kernel = 1, .exclude_hv = 1, .wakeup_events = 1};
    if (is_sigtrap) {
        attr.inherit = attr.inherit_thread = attr.remove_on_exec = attr.sigtrap = 1;
        attr.sig_data = MAGIC;
    }
    long fd = col_arch_syscall(SYS_perf_event_open, (long)&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
    return fd < 0 ? fd : col_descriptors_adopt((int)fd);
}

/* A signal per period to this thread alone. */
static int direct_event(int event, uint32_t tid)
{
    struct f_owner_ex owner = {F_OWNER_TID, (pid_t)tid};
    int fd = col_descriptors_current(event);
    bool is_done = col_arch_syscall(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK, 0, 0, 0) == 0 &&
                   col_arch_syscall(SYS_fcntl, fd, F_SETSIG, COL_CLOCK_SIGNAL, 0, 0, 0) == 0 &&
                   col_arch_syscall(SYS_fcntl, fd, F_SETOWN_EX, (long)&owner, 0, 0, 0) == 0;
    return is_done ? 0 : -EINVAL;
}

/* Off. */
static long prepare_thread_event(uint64_t period_ns, uint32_t tid)
{
    long event = open_event(period_ns, false, false);
    if (event >= 0 && direct_event((int)event, tid) != 0) {
        col_descriptors_close((int)event);
        return -EINVAL;
    }
    return event;
}

static long open_thread_event(uint64_t period_ns, uint32_t tid)
{
    long event = prepare_thread_event(period_ns, tid);
    if (event >= 0 && control_event((int)event, PERF_EVENT_IOC_ENABLE, NULL) != 0) {
        col_descriptors_close((int)event);
        return -EINVAL;
    }
    return event;
}

/* ---- timers ---- */

static uint64_t next_random(void)
{
    uint32_t x = __atomic_load_n(&self.random, __ATOMIC_RELAXED) | 1;
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    __atomic_store_n(&self.random, x, __ATOMIC_RELAXED);
    return x;
}

static long set_timer(int timer, uint64_t first_ns, uint64_t period_ns)
{
    struct itimerspec when = {.it_interval = {(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)},
                              .it_value = {(time_t)(first_ns / 1000000000u), (long)(first_ns % 1000000000u)}};
    return col_arch_syscall(SYS_timer_settime, timer, 0, (long)&when, 0, 0, 0);
}

/* A timer of the calling thread's CPU time. It first fires at a random time within a period: threads that all do the same must not all be caught at the same point. */
static int start_timer(uint64_t period_ns, uint32_t tid)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = COL_CLOCK_SIGNAL, .sigev_value.sival_ptr = (void *)MAGIC};
    int timer = -1;
    event._sigev_un._tid = (pid_t)tid;
    long error = col_arch_syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)&event, (long)&timer, 0, 0, 0);
    if (error == 0)
        error = set_timer(timer, 1 + next_random() % period_ns, period_ns);
    return error == 0 ? timer : (int)error;
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

/* Is this tick the one that a test waits for? Then it is also the last at the test's period. */
static bool take_test_tick(void)
{
    if (self.tested < 0)
        return false;
    bool is_set = control_event(self.tested, PERF_EVENT_IOC_PERIOD, &self.period_ns) == 0;
    __atomic_store_n(&self.has_passed, is_set, __ATOMIC_RELAXED);
    return true;
}

int col_clock_source_tick_of(int signo, const siginfo_t *info)
{
    if (signo == COL_CLOCK_EVENT_SIGNAL) {
        if (info->si_code != TRAP_PERF_CODE || perf_data_of(info) != MAGIC)
            return -1;
        return take_test_tick() ? COL_TICK_NONE : COL_TICK_USER;
    }
    if (info->si_code == SI_TIMER && info->si_value.sival_ptr == (void *)MAGIC)
        return self.kind == COL_CLOCK_TIMER ? COL_TICK_TIMER : COL_TICK_SLOW;
    if (info->si_code >= POLL_IN && info->si_code <= POLL_HUP)
        return take_test_tick() ? COL_TICK_NONE : COL_TICK_USER;
    return -1;
}

/* ---- the ladder ---- */

static bool is_traced(void)
{
    char text[2048];
    int fd = col_os_open("/proc/self/status", O_RDONLY, 0);
    ssize_t length = fd < 0 ? 0 : col_os_read(fd, text, sizeof text - 1);
    if (fd >= 0)
        col_os_close(fd);
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, "TracerPid:\t");
    return line != NULL && line[11] != '0';
}

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

/* Does the event tick at all? Runs for one of its periods to see, with patience. */
static bool does_tick(int event)
{
    uint64_t end_ns = col_clock_now() + TEST_PATIENCE_NS;
    self.has_passed = false;
    __atomic_store_n(&self.tested, event, __ATOMIC_RELAXED);
    bool is_on = control_event(event, PERF_EVENT_IOC_ENABLE, NULL) == 0;
    while (is_on && !__atomic_load_n(&self.has_passed, __ATOMIC_RELAXED) && col_clock_now() < end_ns)
        continue;
    __atomic_store_n(&self.tested, -1, __ATOMIC_RELAXED);
    return self.has_passed;
}

static long test_event(bool is_sigtrap, uint32_t tid)
{
    long event = is_sigtrap ? open_event(TEST_PERIOD_NS, true, false) : prepare_thread_event(TEST_PERIOD_NS, tid);
    if (event < 0 || does_tick((int)event))
        return event;
    col_descriptors_close((int)event);
    return -ETIME;
}

static void explain(char *detail, size_t bytes, const char *rung, const char *why)
{
    size_t used = strlen(detail);
    snprintf(detail + used, bytes - used, "%s%s: %s", used != 0 ? "; " : "", rung, why);
}

static bool try_sigtrap(struct col_thread *thread, char *detail, size_t bytes)
{
    const char *why = NULL;
    if (!is_kernel_fit())
        why = "needs Linux 5.19";
    long event = why != NULL ? 0 : self.is_sigtrap_proven ? open_event(self.period_ns, true, true) : test_event(true, thread->tid);
    if (event < 0)
        why = event == -ETIME ? "did not tick" : strerror((int)-event);
    if (why != NULL) {
        explain(detail, bytes, "sigtrap", why);
        return false;
    }
    self.event = (int)event;
    self.is_sigtrap_proven = true;
    return true;
}

static bool try_task_clock(struct col_thread *thread, char *detail, size_t bytes)
{
    long event = test_event(false, thread->tid);
    if (event < 0) {
        explain(detail, bytes, "task-clock", event == -ETIME ? "did not tick" : strerror((int)-event));
        return false;
    }
    thread->event = (int)event;
    return true;
}

void col_clock_source_trust(enum col_clock_kind kind)
{
    self.is_sigtrap_proven = kind == COL_CLOCK_SIGTRAP;
}

enum col_clock_kind col_clock_source_start(enum col_clock_kind asked, uint64_t period_ns, struct col_thread *thread, char *detail, size_t detail_bytes)
{
    self.period_ns = period_ns;
    self.random = (uint32_t)col_clock_now() ^ thread->tid << 16;
    detail[0] = '\0';
    if (asked == COL_CLOCK_AUTO && is_traced()) { /* it would be shown every tick */
        explain(detail, detail_bytes, "all clocks", "a debugger is attached");
        asked = COL_CLOCK_OFF;
    }
    if (asked == COL_CLOCK_OFF)
        return self.kind = COL_CLOCK_OFF;
    if (asked <= COL_CLOCK_SIGTRAP && try_sigtrap(thread, detail, detail_bytes))
        self.kind = COL_CLOCK_SIGTRAP;
    else if (asked <= COL_CLOCK_TASK && try_task_clock(thread, detail, detail_bytes))
        self.kind = COL_CLOCK_TASK;
    else
        self.kind = COL_CLOCK_TIMER;
    thread->timer = start_timer(timer_period_ns(), thread->tid);
    if (self.kind == COL_CLOCK_TIMER && thread->timer < 0) {
        explain(detail, detail_bytes, "cpu-timer", strerror(-thread->timer));
        self.kind = COL_CLOCK_OFF;
    }
    self.is_on = self.kind != COL_CLOCK_OFF;
    return self.kind;
}

enum col_clock_kind col_clock_source_kind(void)
{
    return self.kind;
}

uint64_t col_clock_source_shortest_ns(enum col_clock_kind kind)
{
    struct timespec tick;
    if (kind != COL_CLOCK_TIMER)
        return SHORTEST_EVENT_NS;
    return clock_getres(CLOCK_REALTIME_COARSE, &tick) == 0 ? (uint64_t)tick.tv_sec * 1000000000u + (uint64_t)tick.tv_nsec : 10000000u;
}

void col_clock_source_thread_begin(struct col_thread *thread)
{
    if (!self.is_on)
        return;
    if (self.kind == COL_CLOCK_TASK && thread->event < 0) {
        long event = open_thread_event(self.period_ns, thread->tid);
        thread->event = event < 0 ? -1 : (int)event;
    }
    if (thread->timer < 0)
        thread->timer = start_timer(timer_period_ns(), thread->tid);
}

void col_clock_source_thread_end(struct col_thread *thread)
{
    if (thread->timer >= 0)
        col_arch_syscall(SYS_timer_delete, thread->timer, 0, 0, 0, 0, 0);
    col_descriptors_close(thread->event);
    thread->timer = thread->event = -1;
}

void col_clock_source_pace(struct col_thread *thread, bool is_fast)
{
    uint64_t period_ns = is_fast ? FAST_PERIOD_NS : SLOW_PERIOD_NS;
    if (thread->timer >= 0 && set_timer(thread->timer, period_ns, period_ns) == 0)
        thread->is_slow_timer_fast = is_fast;
}

void col_clock_source_revive(struct col_thread *thread)
{
    if (!self.is_on)
        return;
    col_descriptors_close(thread->event);
    long event = self.kind == COL_CLOCK_SIGTRAP ? open_event(self.period_ns, true, true) : open_thread_event(self.period_ns, thread->tid);
    thread->event = event < 0 ? -1 : (int)event;
}

void col_clock_source_stop(void)
{
    self.is_on = false;
    col_descriptors_close(self.event);
    self.event = -1;
}

void col_clock_source_forget(void)
{
    col_descriptors_close_all();
    self.event = -1;
    self.is_on = false;
    self.kind = COL_CLOCK_OFF;
}
