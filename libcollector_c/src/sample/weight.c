/* weight.c -- how much CPU time a tick stands for, and whose: the thread's own code or the kernel */
#include "sample/weight.h"

#include <stdbool.h>

#include "base/arch.h"
#include "base/clock.h"
#include "sample/clock_source.h"

/* System time waits for a slow tick to say where it passed: this part of the thread's CPU time may, within limits. */
#define KERNEL_PATIENCE_SHARE 32
#define LEAST_PATIENCE_NS 8000000u
#define MOST_PATIENCE_NS 60000000u
#define QUIET_ENOUGH 16            /* slow ticks without system time after which they come more rarely */
#define LOUD_ENOUGH_NS 8000000u    /* system time found meanwhile after which they come at every kernel tick again */

static struct {
    uint64_t period_ns;
} self;

void col_weight_start(uint64_t period_ns)
{
    self.period_ns = period_ns;
}

/* The event ticks once a period of CPU time, but only if that finds the thread in its own code: the ticks that are missing were system time. */
static struct col_weight weigh_user(struct col_thread *thread, uint64_t passed_ns)
{
    uint64_t periods = (passed_ns + self.period_ns / 2) / self.period_ns;
    uint64_t system_ns = periods > 1 ? (periods - 1) * self.period_ns : 0;
    thread->tick_count++;
    thread->kernel_ns += system_ns;
    uint64_t patience_ns = thread->cpu_ns / KERNEL_PATIENCE_SHARE;
    patience_ns = patience_ns < LEAST_PATIENCE_NS ? LEAST_PATIENCE_NS : patience_ns > MOST_PATIENCE_NS ? MOST_PATIENCE_NS : patience_ns;
    uint64_t overdue_ns = thread->kernel_ns > patience_ns ? thread->kernel_ns - patience_ns : 0;
    thread->kernel_ns -= overdue_ns;
    return (struct col_weight){passed_ns - system_ns, overdue_ns}; /* it passed nearby: page faults, mostly */
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
    return col_arch_follows_syscall(context) || (system_ns - before_ns) * 4 >= slow_ns * 3;
}

/*
 * The slow timer shows where system time passed. Each of its ticks stands for the time since the last one, and takes no more system time than that: the few system
 * calls it meets must not be charged with the page faults.
 */
static struct col_weight weigh_slow(struct col_thread *thread, const ucontext_t *context, uint64_t passed_ns, uint64_t cpu_ns)
{
    uint64_t slow_ns = cpu_ns - thread->slow_cpu_ns, periods = passed_ns / self.period_ns;
    uint64_t waiting_ns = thread->kernel_ns + periods * self.period_ns;
    bool is_found = is_in_kernel(thread, context, slow_ns);
    struct col_weight weight = {0, 0};
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
static struct col_weight weigh_timer(struct col_thread *thread, const ucontext_t *context, uint64_t passed_ns)
{
    uint64_t user_ns, system_ns;
    col_clock_thread_times(&user_ns, &system_ns);
    uint64_t grown_ns = system_ns > thread->stime_ns ? system_ns - thread->stime_ns : 0;
    thread->stime_ns = system_ns;
    if (grown_ns == 0 && col_arch_follows_syscall(context))
        grown_ns = passed_ns;
    uint64_t kernel_ns = grown_ns < passed_ns ? grown_ns : passed_ns;
    return (struct col_weight){passed_ns - kernel_ns, kernel_ns};
}

struct col_weight col_weight_take(struct col_thread *thread, enum col_tick kind, const ucontext_t *context)
{
    uint64_t cpu_ns = col_clock_thread_cpu();
    uint64_t passed_ns = cpu_ns - thread->cpu_ns;
    if (kind == COL_TICK_SLOW)
        return weigh_slow(thread, context, passed_ns, cpu_ns);
    thread->cpu_ns = cpu_ns;
    return kind == COL_TICK_USER ? weigh_user(thread, passed_ns) : weigh_timer(thread, context, passed_ns);
}

struct col_weight col_weight_take_rest(struct col_thread *thread, uint64_t cpu_ns)
{
    struct col_weight weight = weigh_user(thread, cpu_ns - thread->cpu_ns);
    weight.system_ns += thread->kernel_ns;
    weight.user_ns = 0; /* less than a period: the reader spreads it over all of the thread's samples */
    if (col_clock_source_kind() == COL_CLOCK_TIMER)
        weight.system_ns = 0;
    return weight;
}
