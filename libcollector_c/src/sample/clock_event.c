/* clock_event.c -- perf events that signal threads as they use CPU time */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/clock_event.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/os.h"
#include "target/descriptors.h"
#include "target/launcher.h"

#define FAULTS_A_TICK 256

enum use {
    USE_CLOCK,
    USE_FAULTS,
    USE_SWITCHES = 7,
    USE_BACKUP = 8
}; /* of a thread's events, beside those of sample/overflow.c and counter_group.c */

static struct {
    uint64_t period_ns;
    bool has_handed_over;  /* the launcher holds one, or did */
    int lowest_signalling; /* of the numbers that events had when they were told to signal; 0: none has */
} self;

void col_clock_event_start(uint64_t period_ns)
{
    self.period_ns = period_ns;
    self.has_handed_over = false;
}

const char *col_clock_event_parse(const char *text, struct col_clock_event_asked *event)
{
    char *rest;
    event->type = (uint32_t)strtoul(text, &rest, 10);
    event->config = strtoull(rest + (*rest == '.'), &rest, 10);
    event->period = strtoull(rest + (*rest == '.'), &rest, 10);
    rest += *rest == '.';
    size_t length = strcspn(rest, "+,"), most = sizeof event->name - 1;
    snprintf(event->name, sizeof event->name, "%.*s", (int)(length < most ? length : most), rest);
    return rest[length] == '+' ? rest + length + 1 : NULL;
}

static long open_in_group(const struct perf_event_attr *attr, int leader)
{
    return col_arch_syscall(SYS_perf_event_open, (long)attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC, 0);
}

static long open_bare(const struct perf_event_attr *attr)
{
    return open_in_group(attr, -1);
}

/* All end with the program image that they watch: whoever has them open, the next one must not be signalled. */
static long open_event(bool is_sigtrap, bool ends_at_exec)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = self.period_ns,
                                   .disabled = !is_sigtrap,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .wakeup_events = 1,
                                   .remove_on_exec = ends_at_exec};
    if (is_sigtrap) {
        attr.inherit = attr.inherit_thread = attr.sigtrap = 1;
        attr.sig_data = COL_CLOCK_EVENT_MAGIC;
    }
    return open_bare(&attr);
}

/* Of a descriptor, or -errno. */
static long hand_over(long fd, uint32_t thread, unsigned use)
{
    long event = fd < 0 ? fd : col_descriptors_hand_over((int)fd, thread, use);
    if (event == COL_DESCRIPTORS_ELSEWHERE)
        self.has_handed_over = true;
    return event;
}

long col_clock_event_open_inherited(uint32_t thread)
{
    return hand_over(open_event(true, true), thread, USE_CLOCK);
}

/*
 * Its signals carry the number it has when it is told to signal, for ever: a high one, for the program may have files that send the same signal. Closes `fd`; a descriptor, or
 * -errno.
 */
static long move_out_of_the_way(int fd)
{
    long moved = col_descriptors_copy_high(fd);
    col_os_close(fd);
    int lowest = __atomic_load_n(&self.lowest_signalling, __ATOMIC_RELAXED);
    while (moved > 0 && (lowest == 0 || moved < lowest) &&
           !__atomic_compare_exchange_n(&self.lowest_signalling, &lowest, (int)moved, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        continue;
    return moved;
}

bool col_clock_event_has_signalled_as(int fd)
{
    int lowest = __atomic_load_n(&self.lowest_signalling, __ATOMIC_RELAXED);
    return lowest != 0 && fd >= lowest;
}

/* A signal per period to this thread alone, from now on. These settings belong to the open file, whoever holds it. */
static bool direct_event(int fd, uint32_t tid)
{
    struct f_owner_ex owner = {F_OWNER_TID, (pid_t)tid};
    return col_arch_syscall(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK, 0, 0, 0) == 0 &&
           col_arch_syscall(SYS_fcntl, fd, F_SETSIG, COL_CLOCK_SIGNAL, 0, 0, 0) == 0 &&
           col_arch_syscall(SYS_fcntl, fd, F_SETOWN_EX, (long)&owner, 0, 0, 0) == 0 &&
           col_arch_syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0) == 0;
}

/* SIGTRAP for the calling thread alone, whenever its own code has made so many of a software event. */
static long open_trap(uint64_t config, uint64_t period, uint64_t data)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = config,
                                   .sample_period = period,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .remove_on_exec = 1,
                                   .sigtrap = 1,
                                   .sig_data = data};
    return open_bare(&attr);
}

long col_clock_event_open_faults(uint32_t tid)
{
    return hand_over(open_trap(PERF_COUNT_SW_PAGE_FAULTS, FAULTS_A_TICK, COL_CLOCK_FAULT_MAGIC), tid, USE_FAULTS);
}

long col_clock_event_open_backup(uint32_t tid)
{
    return hand_over(open_trap(PERF_COUNT_SW_TASK_CLOCK, COL_CLOCK_BACKUP_NS, COL_CLOCK_BACKUP_MAGIC), tid, USE_BACKUP);
}

void col_clock_event_close_backup(int event, uint32_t tid)
{
    if (event == COL_DESCRIPTORS_ELSEWHERE)
        col_launcher_close(tid, USE_BACKUP);
    else
        col_descriptors_close(event);
}

/* The descriptor stays, since the thread itself has to reach it; the launcher's is for when a tracer comes. */
long col_clock_event_open_switches(uint32_t tid)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                   .size = sizeof attr,
                                   .config = PERF_COUNT_SW_CONTEXT_SWITCHES,
                                   .sample_period = 1,
                                   .remove_on_exec = 1,
                                   .sigtrap = 1,
                                   .sig_data = COL_CLOCK_SWITCH_MAGIC};
    long fd = open_bare(&attr);
    if (fd < 0)
        return fd;
    long copy = col_arch_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0, 0, 0, 0);
    long held = copy < 0 ? copy : hand_over(copy, tid, USE_SWITCHES);
    if (held >= 0 && held != COL_DESCRIPTORS_ELSEWHERE)
        col_descriptors_close((int)held);
    return col_descriptors_adopt((int)fd);
}

void col_clock_event_set_period(int event, uint64_t period)
{
    int fd = col_descriptors_current(event);
    if (fd >= 0)
        col_arch_syscall(SYS_ioctl, fd, PERF_EVENT_IOC_PERIOD, (long)&period, 0, 0, 0);
}

/* Without the right to count in the kernel, what user mode does counts. */
long col_clock_event_open_overflow(uint32_t thread, unsigned use, const struct col_clock_event_asked *event,
                                   uint64_t data)
{
    struct perf_event_attr attr = {.type = event->type,
                                   .size = sizeof attr,
                                   .config = event->config,
                                   .sample_period = event->period,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .inherit = 1,
                                   .inherit_thread = 1,
                                   .remove_on_exec = 1,
                                   .sigtrap = 1,
                                   .sig_data = data};
    return hand_over(open_bare(&attr), thread, use);
}

long col_clock_event_open_counter(const struct col_clock_event_asked *event, int leader)
{
    struct perf_event_attr attr = {.type = event->type,
                                   .size = sizeof attr,
                                   .config = event->config,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING};
    return open_in_group(&attr, leader);
}

long col_clock_event_open_thread(uint32_t tid)
{
    long fd = open_event(false, true);
    bool is_old = fd == -EINVAL; /* before Linux 5.13 an event ends at exec only if that closes it */
    if (is_old)
        fd = open_event(false, false);
    if (fd >= 0)
        fd = move_out_of_the_way((int)fd);
    if (fd >= 0 && !direct_event((int)fd, tid)) {
        col_os_close((int)fd);
        return -EINVAL;
    }
    return is_old && fd >= 0 ? col_descriptors_adopt((int)fd) : hand_over(fd, tid, USE_CLOCK);
}

void col_clock_event_suspend(int patience_ms)
{
    if (self.has_handed_over)
        col_launcher_suspend(patience_ms);
}

void col_clock_event_switch(int event, bool is_on)
{
    int fd = col_descriptors_current(event);
    if (fd >= 0)
        col_arch_syscall(SYS_ioctl, fd, is_on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0, 0, 0, 0);
}

void col_clock_event_stop_clock(void)
{
    if (self.has_handed_over)
        col_launcher_close(0, USE_CLOCK);
}

bool col_clock_event_release(int patience_ms)
{
    return !self.has_handed_over || col_launcher_release(patience_ms);
}
