/* weight.c -- how much CPU time a tick stands for, and whose: the thread's own code or the kernel */
#include "sample/weight.h"

#include <stdbool.h>

#include "base/arch.h"
#include "base/clock.h"
#include "sample/missing_time.h"
#include "sample/switch_rate.h"

#define QUIET_ENOUGH 16 /* slow ticks without system time after which they come more rarely */
#define HISTORY 32      /* the latest of 64 that are remembered: they tell whether the thread is often in the kernel, */
#define OFTEN_IN_KERNEL 6 /* once in so many: then all time of missing ticks waits for the next one found there */
#define ENOUGH_HISTORY 12
#define KEPT_NS 128000000u  /* else so much may wait: of so much system time a slow tick should have seen some */
#define SILENCE_PERIODS 16u /* a thread that runs so long without a tick has lost its event, */
#define SHORTEST_SILENCE_NS 32000000u   /* but a busy machine withholds the ticks of some milliseconds */
#define ON_TIME 8                       /* so small a part of a period may a tick be early or late */
#define KERNEL_TICK_NS 4000000u         /* or less: the kernel's account of a thread's system time grows by that */
#define OVERDUE_NS (4 * KERNEL_TICK_NS) /* of a tick of the timer: others have the processor when the kernel's comes */
#define TIMELY_NS (2 * KERNEL_TICK_NS)  /* so soon after the timer's the event that stands in has nothing to say */
#define ENOUGH_TIMELY 16                /* of its ticks in a row show that the kernel's find the thread */
#define WORTH_COUNTING_FAULTS_NS 4000000u
#define USUAL_FAULTS_NS 250000u /* that a fault tick stands for, to begin with: a microsecond each */

static struct {
    uint64_t period_ns;
} self;

void col_weight_start(uint64_t period_ns)
{
    self.period_ns = period_ns;
}

void col_weight_baseline(struct col_thread *thread, uint64_t cpu_ns, uint64_t time_ns)
{
    thread->cpu_ns = thread->slow_cpu_ns = cpu_ns;
    thread->time_ns = time_ns;
    thread->switches_cpu_ns = cpu_ns;
    thread->stime_ns = thread->switches = 0;
    if (cpu_ns != 0)
        col_clock_thread_switches(&thread->stime_ns, &thread->switches);
    thread->system_ns = thread->stime_ns;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t difference(uint64_t later, uint64_t earlier)
{
    return later > earlier ? later - earlier : 0;
}

/* So much of the thread's time is accounted for. */
static void advance(struct col_thread *thread, uint64_t ns)
{
    thread->cpu_ns += ns;
    thread->time_ns += ns;
}

/*
 * The event ticks once a period of CPU time, but only if that finds the thread in its own code, and only if the host lets the interrupt through. So a tick that is
 * missing was system time or was withheld; which of them the slow timer finds out. A thread that none of its latest ticks found in the kernel need not wait for the answer.
 */
static struct col_weight weigh_user(struct col_thread *thread, uint64_t passed_ns)
{
    uint64_t periods = (passed_ns + self.period_ns / 2) / self.period_ns;
    uint64_t missing_ns = periods > 1 ? (periods - 1) * self.period_ns : 0;
    struct col_weight weight = {passed_ns - missing_ns, 0, missing_ns};
    thread->tick_count++;
    thread->waiting_ns += missing_ns;
    if (thread->waiting_ns != 0 && thread->kernel_history == 0 && thread->history_count >= ENOUGH_HISTORY) {
        uint64_t system_ns = col_missing_time_take(thread, missing_ns);
        weight.user_ns += missing_ns - system_ns;
        weight.system_ns += system_ns;
        weight.missing_ns = 0;
        col_missing_time_leave_open(thread, 0);
    }
    return weight;
}

/* So much of the time since the last sample is that of ticks that did not come; one that is hardly late still may. */
static uint64_t missed(uint64_t passed_ns)
{
    return (passed_ns - smaller(passed_ns, self.period_ns / ON_TIME)) / self.period_ns * self.period_ns;
}

/*
 * A thread that runs its own code and does not tick has lost its event: the program closed it behind our back, or it never worked. A slow tick that is late by more
 * than the slow period says no more than that: the host may have withheld both. Some lateness is usual on a busy machine, where the kernel's tick seldom finds the thread.
 */
static void watch_event(struct col_thread *thread, uint64_t own_ns)
{
    thread->silent_ns =
        thread->tick_count == thread->slow_tick_count ? thread->silent_ns + smaller(own_ns, COL_SLOW_PERIOD_NS) : 0;
    thread->slow_tick_count = thread->tick_count;
    if (thread->silent_ns > SILENCE_PERIODS * self.period_ns && thread->silent_ns > SHORTEST_SILENCE_NS) {
        col_clock_source_revive(thread);
        thread->silent_ns = 0;
    }
}

/* Where there is system time, or may be, the slow timer keeps the kernel's pace, so that the account of each of its ticks can be told; where there is none it costs less. */
static void pace_slow_timer(struct col_thread *thread, bool has_system_time)
{
    thread->quiet_count = has_system_time ? 0 : thread->quiet_count + 1;
    if (thread->is_slow_timer_fast ? thread->quiet_count > QUIET_ENOUGH : has_system_time)
        col_clock_source_pace(thread, !thread->is_slow_timer_fast);
}

/* Takes note of the thread's switches since the last time, returns them, and reads the kernel's account of its system time. */
static uint64_t take_switches(struct col_thread *thread, uint64_t cpu_ns, uint64_t *system_ns)
{
    uint64_t switches_before = thread->switches, cpu_before_ns = thread->switches_cpu_ns;
    col_clock_thread_switches(system_ns, &thread->switches);
    thread->switches_cpu_ns = cpu_ns;
    if (col_clock_source_kind() != COL_CLOCK_TIMER)
        col_switch_rate_note(thread->switches - switches_before, difference(cpu_ns, cpu_before_ns));
    return thread->switches - switches_before;
}

/* The kernel's account of the thread's system time since the last slow tick. */
static uint64_t take_system_growth(struct col_thread *thread, uint64_t cpu_ns)
{
    uint64_t before_ns = thread->stime_ns, ns = difference(cpu_ns, thread->switches_cpu_ns);
    uint64_t switches = take_switches(thread, cpu_ns, &thread->stime_ns);
    if (switches * COL_OFTEN_NS > ns)
        thread->switch_ns = ns / switches;
    return difference(thread->stime_ns, before_ns);
}

/*
 * Whether the kernel's ticks find a thread whose event is closed is known neither at first nor when one was overdue: one that takes turns with others may run between them
 * only. Until it is known an event that comes seldom ticks beside them; later that would only cost.
 * What was missing of the event's own ticks does not wait for these: they are too rare to find the same calls.
 */
static void do_without_event(struct col_thread *thread, bool is_timely)
{
    if (!thread->is_without_event)
        col_missing_time_leave_open(thread, 0);
    thread->is_without_event = true;
    thread->timely_count = is_timely ? thread->timely_count + 1 : 0;
    bool is_needed = thread->timely_count < ENOUGH_TIMELY;
    if (is_needed ? thread->backup == -1 : thread->backup >= 0)
        col_clock_source_back_up(thread, is_needed);
    if (!thread->is_slow_timer_fast)
        col_clock_source_pace(thread, true);
}

/* System time that no tick saw, and perhaps what still waits, is page faults, mostly. To count them costs a little, so only threads that have them are counted. */
static void begin_faults(struct col_thread *thread, uint64_t cpu_ns)
{
    thread->fault_cpu_ns = cpu_ns;
    thread->fault_median_ns = USUAL_FAULTS_NS;
    col_clock_source_count_faults(thread);
}

/* Of the last `history_count` slow ticks. */
static unsigned kernel_count(const struct col_thread *thread)
{
    unsigned count = 0;
    for (uint32_t bits = (uint32_t)thread->kernel_history; bits != 0; bits &= bits - 1)
        count++;
    return count;
}

/* Or not known to be seldom there: a young thread was in the kernel at one of its few slow ticks, or has not had enough of them. */
static bool may_be_often_in_kernel(const struct col_thread *thread)
{
    return kernel_count(thread) * OFTEN_IN_KERNEL >= thread->history_count || thread->history_count < ENOUGH_HISTORY;
}

/*
 * The slow timer shows where system time passed. Each of its ticks stands for the time since the last one, and takes no more system time than that: the few system
 * calls it meets must not be charged with the page faults. Time that none of them explains was no system time, or not of such calls.
 * Where there have hardly been any since the last one, by their count or because nothing asked for one, only calls are left: what the slow ticks before missed
 * of them may be taken too. Those find a thread in the kernel a little more or less often than it is there, and what is then left over would be spread over code that
 * was never there.
 */
static uint64_t most_system_ns(const struct col_thread *thread, bool is_call, uint64_t slow_ns, uint64_t missing_ns)
{
    bool has_no_faults = thread->faults == -1 || (thread->faults >= 0 && thread->fault_cpu_ns <= thread->slow_cpu_ns);
    if (is_call)
        return has_no_faults ? 2 * slow_ns : slow_ns;
    return smaller(slow_ns, missing_ns > KERNEL_TICK_NS ? missing_ns : KERNEL_TICK_NS);
}

static void note_slow_tick(struct col_thread *thread, bool is_in_kernel, uint64_t cpu_ns)
{
    thread->slow_cpu_ns = cpu_ns;
    thread->kernel_history = thread->kernel_history << 1 | is_in_kernel;
    thread->history_count += thread->history_count < HISTORY;
}

static struct col_weight weigh_slow(struct col_thread *thread, const ucontext_t *context, uint64_t passed_ns,
                                    uint64_t cpu_ns)
{
    uint64_t slow_ns = cpu_ns - thread->slow_cpu_ns, whole_ns = missed(passed_ns);
    uint64_t system_growth_ns = take_system_growth(thread, cpu_ns);
    /* A system call is known by its instruction, a page fault by the kernel's account, which grows when its own tick finds it at work. That account also grows with
     * a thread that its first ticks found there, until one finds it elsewhere: where no tick is missing it means nothing. */
    bool is_call = col_arch_follows_syscall(context);
    bool is_in_kernel = is_call || (whole_ns != 0 && system_growth_ns * 4 >= slow_ns * 3);
    struct col_weight weight = {0, 0, 0};
    uint64_t most_ns = most_system_ns(thread, is_call, slow_ns, whole_ns);
    note_slow_tick(thread, is_in_kernel, cpu_ns);
    bool is_missing = whole_ns != 0 || (is_call && thread->waiting_ns != 0); /* brief calls lack no tick of their own */
    if (is_in_kernel && is_missing) { /* code that ticks as it should has nothing to explain */
        weight.system_ns = smaller(thread->waiting_ns + whole_ns, most_ns);
        weight.missing_ns = difference(whole_ns, weight.system_ns);
        thread->waiting_ns += whole_ns - weight.system_ns;
        thread->system_ns += weight.system_ns;
        advance(thread, whole_ns); /* the rest of the period belongs to the event's next tick */
    } else if (!is_in_kernel && thread->waiting_ns != 0 && !may_be_often_in_kernel(thread))
        col_missing_time_leave_open(thread, thread->kernel_history != 0 ? KEPT_NS : 0);
    if (!col_clock_source_has_event(thread)) { /* it was closed a moment ago */
        do_without_event(thread, false);
        return weight;
    }
    thread->is_without_event = false;
    if (thread->backup >= 0)
        col_clock_source_back_up(thread, false);
    /* Before the timer's pace changes. */
    watch_event(thread, is_in_kernel ? 0 : slow_ns);
    bool is_looked_for = thread->kernel_history != 0 && thread->waiting_ns != 0;
    pace_slow_timer(thread, is_in_kernel || system_growth_ns * 4 >= slow_ns || is_looked_for);
    if (thread->unseen_system_ns + thread->waiting_ns > WORTH_COUNTING_FAULTS_NS && thread->faults == -1)
        begin_faults(thread, cpu_ns);
    return weight;
}

/* The middle of the times between fault ticks, near enough: each one draws it its way by a sixteenth. */
static uint64_t follow_median(uint64_t median_ns, uint64_t value_ns)
{
    return value_ns > median_ns ? median_ns + median_ns / 16 : median_ns - median_ns / 16;
}

/*
 * So many page faults later: the time of missing ticks was spent in them, but no more than such a number of faults usually takes, because the thread may have done
 * other things in between.
 */
static struct col_weight weigh_faults(struct col_thread *thread, uint64_t passed_ns, uint64_t cpu_ns)
{
    uint64_t whole_ns = missed(passed_ns), fault_ns = cpu_ns - thread->fault_cpu_ns;
    uint64_t missing_ns = thread->waiting_ns + whole_ns;
    thread->fault_cpu_ns = cpu_ns;
    thread->fault_median_ns = follow_median(thread->fault_median_ns, fault_ns);
    if (missing_ns == 0)
        return (struct col_weight){0, 0, 0};
    uint64_t system_ns = smaller(smaller(missing_ns, fault_ns), thread->fault_median_ns * 5 / 4);
    thread->waiting_ns = missing_ns - system_ns;
    thread->system_ns += system_ns;
    advance(thread, whole_ns);
    thread->kernel_history |= 1;
    return (struct col_weight){0, system_ns, difference(whole_ns, system_ns)};
}

/*
 * A CPU timer fires with the kernel's own clock tick, which finds the thread either in the kernel or not, as it does for the kernel's account. That is scaled
 * and so grows a little at every tick: what counts is whether this one was mostly the kernel's.
 */
static struct col_weight weigh_timer(struct col_thread *thread, const ucontext_t *context, uint64_t passed_ns)
{
    uint64_t slow_ns = difference(thread->cpu_ns, thread->slow_cpu_ns);
    bool is_in_kernel = take_system_growth(thread, thread->cpu_ns) * 2 >= slow_ns || col_arch_follows_syscall(context);
    struct col_weight weight = {is_in_kernel ? 0 : passed_ns, is_in_kernel ? passed_ns : 0, 0};
    note_slow_tick(thread, is_in_kernel, thread->cpu_ns);
    if (is_in_kernel) { /* it takes no more of what waits than it stands for itself */
        uint64_t waited_ns = smaller(thread->waiting_ns, passed_ns);
        weight.system_ns += waited_ns;
        thread->waiting_ns -= waited_ns;
    } else if (thread->waiting_ns != 0 && thread->kernel_history == 0)
        col_missing_time_leave_open(thread, 0);
    thread->system_ns = thread->stime_ns;
    return weight;
}

/* Of a clock whose event is closed for now. */
static struct col_weight weigh_instead(struct col_thread *thread, const ucontext_t *context, uint64_t passed_ns)
{
    do_without_event(thread, passed_ns < OVERDUE_NS);
    struct col_weight weight = weigh_timer(thread, context, passed_ns);
    col_clock_source_follow(thread);
    return weight;
}

/*
 * On a busy machine a thread that runs for a moment at a time may never be there when the kernel's tick comes. Then this one stands for the time since the last, but it
 * only comes where the thread runs its own code: so much as its timer found it in the kernel waits for the next tick that does. What the timer found while the thread was
 * switched often tells of such time only: as much as its switches since then take.
 */
static struct col_weight weigh_backup(struct col_thread *thread, uint64_t passed_ns, uint64_t switches,
                                      uint64_t stime_ns)
{
    uint64_t often_ns = smaller(passed_ns, switches * thread->switch_ns);
    uint64_t system_ns = thread->history_count == 0 ? 0 : often_ns * kernel_count(thread) / thread->history_count;
    do_without_event(thread, false);
    thread->waiting_ns += system_ns;
    /* What the kernel has accounted so far says nothing of the timer's next tick. */
    thread->slow_cpu_ns = thread->cpu_ns;
    thread->stime_ns = stime_ns;
    return (struct col_weight){passed_ns - system_ns, 0, system_ns};
}

/*
 * A tick that comes a period of wall time after the last has found the thread running all the while. Its CPU clock need not be asked then, and should not be: the
 * kernel looks at the thread's time slice when it is, so that each slice would end at a tick, all ticks fall on the same points of a slice, and a program in step
 * with the scheduler be seen at the same few points. Each is counted as a period since the last reading, so that what is early or late does not add up.
 */
static bool is_on_time(const struct col_thread *thread, uint64_t time_ns)
{
    uint64_t tolerance_ns = self.period_ns / ON_TIME;
    return time_ns + tolerance_ns - (thread->time_ns + self.period_ns) <= 2 * tolerance_ns;
}

/* Whether a tick stands for time: one of an event that was closed, or opened again, a moment ago does not. */
static bool counts(enum col_tick kind, bool has_event)
{
    return has_event ? kind != COL_TICK_BACKUP : kind == COL_TICK_TIMER || kind == COL_TICK_BACKUP;
}

struct col_weight col_weight_take(struct col_thread *thread, enum col_tick kind, const ucontext_t *context,
                                  uint64_t time_ns)
{
    bool has_event = col_clock_source_has_event(thread);
    if (kind == COL_TICK_SLOW && !has_event)
        kind = COL_TICK_TIMER;
    if (!counts(kind, has_event))
        return (struct col_weight){0, 0, 0};
    if (kind == COL_TICK_USER && is_on_time(thread, time_ns)) {
        advance(thread, self.period_ns);
        return weigh_user(thread, self.period_ns);
    }
    uint64_t cpu_ns = col_clock_thread_cpu();
    uint64_t since_ns = difference(time_ns, thread->time_ns);
    uint64_t passed_ns =
        smaller(difference(cpu_ns, thread->cpu_ns), since_ns); /* nobody runs for longer than time passes */
    if (kind == COL_TICK_FAULTS)
        return weigh_faults(thread, passed_ns, cpu_ns);
    uint64_t stime_ns = 0, switches = kind == COL_TICK_BACKUP ? take_switches(thread, cpu_ns, &stime_ns) : 0;
    if (kind != COL_TICK_USER)
        col_clock_source_follow(thread);
    if (kind == COL_TICK_BACKUP && passed_ns < TIMELY_NS) /* the timer does well */
        return (struct col_weight){0, 0, 0};
    if (kind == COL_TICK_SLOW)
        return weigh_slow(thread, context, passed_ns, cpu_ns);
    if (cpu_ns > thread->cpu_ns)
        thread->cpu_ns = cpu_ns;
    thread->time_ns = time_ns;
    if (kind == COL_TICK_USER)
        return weigh_user(thread, passed_ns);
    if (kind == COL_TICK_BACKUP)
        return weigh_backup(thread, passed_ns, switches, stime_ns);
    return col_clock_source_kind() == COL_CLOCK_TIMER ? weigh_timer(thread, context, passed_ns)
                                                      : weigh_instead(thread, context, passed_ns);
}

void col_weight_skip(struct col_thread *thread, enum col_tick kind, const ucontext_t *context, uint64_t time_ns)
{
    uint64_t ignored;
    if (thread->waiting_ns != 0)
        col_missing_time_leave_open(thread, 0);
    uint64_t open_ns = thread->open_ns;
    col_weight_take(thread, kind, context, time_ns);
    thread->waiting_ns = 0;
    thread->open_ns = open_ns;
    col_clock_thread_times(&ignored, &thread->system_ns); /* what passed meanwhile is not looked for later */
}

uint64_t col_weight_take_lost(struct col_thread *thread, uint64_t *time_ns)
{
    *time_ns = thread->lost_time_ns;
    uint64_t ns =
        smaller(difference(thread->lost_cpu_ns, thread->cpu_ns), difference(thread->lost_time_ns, thread->time_ns));
    thread->lost_cpu_ns = 0;
    if (ns == 0)
        return 0;
    thread->cpu_ns += ns;
    thread->time_ns = *time_ns;
    thread->tick_count++;
    return ns;
}
