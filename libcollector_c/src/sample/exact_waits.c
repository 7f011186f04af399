/* exact_waits.c -- every wait of a thread with its length and stack, taken by the thread itself as it leaves the kernel */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sample/exact_waits.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/safe_read.h"
#include "base/text_format.h"
#include "experiment/event.h"
#include "experiment/messages.h"
#include "sample/clock_event.h"
#include "sample/recording.h"
#include "sample/thread_frames.h"
#include "sample/unwind.h"
#include "target/descriptors.h"
#include "target/go_program.h"
#include "target/python_runtime.h"

#define SOURCE 0x10100u /* behind those of sample/overflow.c */
#define FRAME COL_OVERFLOW_EVENTS
#define US 1000u
#define VARIANCE_NS2 100000000u          /* its unit */
#define UNSEEN ((UINT64_C(2) << 56) - 1) /* stands for the stack of waits that nobody saw */
#define SIGNAL_US 250                    /* a signal each so often: 4,000 a second and thread, */
#define MOST_CREDIT_US (100 * SIGNAL_US) /* and so many at once */
#define BURST 16
#define DEFER_TASKRUN (1u << 13) /* of IORING_SETUP */
#define SHORTEST_GAP 128u        /* and twice as much */
#define LARGEST_REST 32          /* gaps, whose time no burst took */

static struct {
    bool is_allowed;
    bool has_deferring_rings;
    int is_refused;        /* atomic: that was told */
    uint64_t unseen_count; /* switches, of all threads */
} self;

void col_exact_waits_start(void)
{
    self.is_allowed = self.has_deferring_rings = false;
    self.is_refused = 0;
    self.unseen_count = 0;
}

static void declare(uint32_t pid)
{
    char names[COL_EXACT_VALUES][24] = {"runnable ns", "waits", "variance 1e-10s2"};
    const char *values[COL_EXACT_VALUES];
    struct col_event_head head = {col_clock_now(), 0};
    for (unsigned i = 0; i < COL_EXACT_VALUES; i++) {
        if (i >= COL_EXACT_BLOCKED)
            col_text_print_into(names[i], sizeof names[i], "blocked_%s ns", col_wait_cause_name(i - COL_EXACT_BLOCKED));
        values[i] = names[i];
    }
    struct col_event_pmcallocate allocate = {.source = SOURCE,
                                             .name = "exact-waits",
                                             .clock = "exact",
                                             .unit = "us",
                                             .period_ns = 1,
                                             .effective_period_ns = 1,
                                             .values = values,
                                             .value_count = COL_EXACT_VALUES,
                                             .counted_as = "wait-rows"};
    col_event_pmcallocate(head, &allocate);
    col_event_pmcattach(head, &(struct col_event_pmcattach){.source = SOURCE, .pid = pid});
}

void col_exact_waits_allow(struct col_thread *thread, uint32_t pid)
{
    if (col_go_program_is_running()) {
        col_messages_say(
            COL_MESSAGE_WARNING, NULL,
            "where the program waits was not recorded: Go may run another program by an instruction of its own, "
            "and a signal that is due by then would kill that");
        return;
    }
    declare(pid);
    self.is_allowed = true;
    col_exact_waits_begin(thread);
}

static void tell_refused(long error)
{
    char text[120];
    if (__atomic_exchange_n(&self.is_refused, 1, __ATOMIC_RELAXED))
        return;
    col_text_print_into(text, sizeof text,
                        "waits of some threads were not recorded: the kernel refused the event (error %d)",
                        (int)-error);
    col_messages_say(COL_MESSAGE_WARNING, NULL, text);
}

/* Of the calling thread. */
static void read_switches(uint64_t *voluntary, uint64_t *involuntary)
{
    struct rusage usage = {.ru_nvcsw = 0};
    col_arch_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0);
    *voluntary = (uint64_t)usage.ru_nvcsw;
    *involuntary = (uint64_t)usage.ru_nivcsw;
}

void col_exact_waits_begin(struct col_thread *thread)
{
    struct col_thread_waits *waits = &thread->waits;
    if (!self.is_allowed || waits->event >= 0)
        return;
    long event = col_clock_event_open_switches(thread->tid);
    if (event < 0) {
        tell_refused(event);
        return;
    }
    *waits = (struct col_thread_waits){
        .event = (int)event, .period = 1, .credit_us = MOST_CREDIT_US, .credit_ns = col_clock_now()};
    read_switches(&waits->voluntary, &waits->involuntary);
    waits->cpu_ns = col_clock_thread_cpu();
    waits->time_ns = col_clock_now();
}

/* ---- what would be disturbed ---- */

/* For the whole process, and once: the signals end, and from then on nobody sees where it waits. */
static void refuse(void)
{
    struct col_thread *thread;
    if (!__atomic_exchange_n(&self.is_allowed, false, __ATOMIC_ACQ_REL))
        return;
    for (uint32_t next = 0; (thread = col_thread_each(&next)) != NULL;)
        col_clock_event_switch(thread->waits.event, false);
    col_messages_say(
        COL_MESSAGE_WARNING, NULL,
        "where the program waits was recorded only until it made use of an io_uring without DEFER_TASKRUN, "
        "whose waits for several completions a signal would cut short");
}

void col_exact_waits_meet_ring(uint32_t flags)
{
    if (flags & DEFER_TASKRUN)
        self.has_deferring_rings = true;
    else
        refuse();
}

/* One whose ring nobody saw being made; this wait may have been cut short, the next ones are not. */
static bool is_cut_short(long call, const uint64_t *arguments)
{
    return call == COL_CALL_RING_ENTER && arguments[2] > 1 && !self.has_deferring_rings;
}

/* ---- what it waited for ---- */

/* FUTEX_WAIT or FUTEX_WAIT_BITSET: where the call is made through syscall(2), whose code does not tell which it is. */
static bool is_futex_wait(const uint64_t *arguments)
{
    uint64_t operation = arguments[1] & ~UINT64_C(0x180); /* private, by the wall clock */
    return (operation == 0 || operation == 9) && arguments[0] > UINT16_MAX && arguments[0] % sizeof(int) == 0;
}

static enum col_wait_cause lock_at(uint64_t address)
{
    return col_python_runtime_is_gil(col_python_runtime(), (uintptr_t)address) ? COL_WAIT_GIL : COL_WAIT_LOCK;
}

/* The number is the seventh argument of the function that calls the one that makes the call: it lies where that function's part of the stack ends. */
static bool find_cancellable_call(struct col_thread *thread, const ucontext_t *context, long *call)
{
    enum { CALLER = 2 };
    uintptr_t pcs[CALLER + 1], sps[CALLER + 1], number;
    enum col_stack_end end;
    if (!col_arch_is_cancellable_call(context) ||
        col_unwind_walk(context, &thread->bounds, pcs, sps, CALLER + 1, &end) <= CALLER ||
        !col_safe_read_word(sps[CALLER], &number))
        return false;
    *call = (long)number;
    return number <= INT16_MAX;
}

static enum col_wait_cause cause_of(struct col_thread *thread, const ucontext_t *context)
{
    long call;
    uint64_t arguments[3];
    if (!col_arch_follows_syscall(context))
        return COL_WAIT_PAGE;
    if (!col_arch_finished_call(context, &call, arguments) && !find_cancellable_call(thread, context, &call))
        return is_futex_wait(arguments) ? lock_at(arguments[0]) : COL_WAIT_OTHER;
    if (is_cut_short(call, arguments))
        refuse();
    if (!col_wait_cause_is_of_descriptor(call))
        return call == SYS_futex ? lock_at(arguments[0]) : col_wait_cause_of_call(call);
    return arguments[0] > INT32_MAX ? COL_WAIT_OTHER
                                    : col_wait_cause_of_descriptor("/proc/self/fd", (unsigned)arguments[0]);
}

/* ---- too many ---- */

/* The event is to come with each switch, or once in `period`. */
static void set_period(struct col_thread_waits *waits, uint32_t period)
{
    waits->period = period;
    col_clock_event_set_period(waits->event, period);
}

/* A signal has come: whether the thread can have another one now. */
static bool has_credit(struct col_thread_waits *waits, uint64_t time_ns)
{
    int64_t credit_us = waits->credit_us + (int64_t)((time_ns - waits->credit_ns) / US) - SIGNAL_US;
    waits->credit_ns = time_ns - (time_ns - waits->credit_ns) % US;
    waits->credit_us = credit_us > MOST_CREDIT_US    ? MOST_CREDIT_US
                       : credit_us < -MOST_CREDIT_US ? -MOST_CREDIT_US
                                                     : credit_us;
    return waits->credit_us > 0;
}

static double follow(double usual, uint64_t now)
{
    return usual == 0 ? (double)now : usual + ((double)now - usual) / 8;
}

/* A gap is over. The waits of the next bursts show where its time goes; what they have not taken for long, nobody knows. */
static uint64_t end_gap(struct col_thread_waits *waits, uint64_t off_ns)
{
    waits->gap_ns = follow(waits->gap_ns, off_ns);
    waits->usual_ns = follow(waits->usual_ns, waits->burst_ns);
    waits->left_ns += off_ns;
    waits->burst_ns = 0;
    waits->burst = BURST;
    set_period(waits, 1);
    uint64_t usual_ns = (uint64_t)waits->gap_ns,
             too_many_ns = waits->left_ns > LARGEST_REST * usual_ns ? waits->left_ns - usual_ns : 0;
    waits->left_ns -= too_many_ns;
    /* Of all that is left, so that others take what some bursts do not. */
    waits->share = waits->usual_ns > 0 ? (double)waits->left_ns / waits->usual_ns : 0;
    return too_many_ns;
}

/* Once there were too many switches, there is a gap after each burst until there is room again for all of them. */
static void pace(struct col_thread_waits *waits, uint64_t time_ns)
{
    bool has_room = has_credit(waits, time_ns);
    if (waits->burst != 0 && --waits->burst != 0)
        return;
    if (!has_room)
        set_period(waits, SHORTEST_GAP + (uint32_t)(time_ns / US) % SHORTEST_GAP); /* nothing falls in step with it */
}

/* A wait's share of what was waited in gaps. */
static uint64_t share_of_gaps(struct col_thread_waits *waits, uint64_t off_ns)
{
    double share = (double)off_ns * waits->share;
    uint64_t share_ns = share < (double)waits->left_ns ? (uint64_t)share : waits->left_ns;
    waits->left_ns -= share_ns;
    return share_ns;
}

/* And of how many waits there were. */
static uint64_t count_of_gaps(struct col_thread_waits *waits)
{
    uint64_t count = waits->left_count / (waits->burst + 1);
    waits->left_count -= count;
    return count;
}

/* ---- a signal ---- */

static uint64_t growth(uint64_t *known, uint64_t now)
{
    uint64_t more = now > *known ? now - *known : 0;
    *known = now;
    return more;
}

static uint64_t whole_us(struct col_thread_waits *waits, uint64_t ns)
{
    uint64_t sum_ns = waits->rest_ns + ns;
    waits->rest_ns = sum_ns % US;
    return sum_ns / US;
}

bool col_exact_waits_take(struct col_thread *thread, const ucontext_t *context, uint64_t time_ns,
                          struct col_exact_wait *wait)
{
    struct col_thread_waits *waits = &thread->waits;
    uint64_t voluntary, involuntary;
    if (waits->event < 0 || !self.is_allowed)
        return false;
    read_switches(&voluntary, &involuntary);
    uint64_t cpu_ns = growth(&waits->cpu_ns, col_clock_thread_cpu()), wall_ns = growth(&waits->time_ns, time_ns);
    uint64_t off_ns = wall_ns > cpu_ns ? col_recording_between(time_ns - (wall_ns - cpu_ns), time_ns) : 0;
    uint64_t blocks = growth(&waits->voluntary, voluntary),
             switches = blocks + growth(&waits->involuntary, involuntary);
    memset(wait, 0, sizeof *wait);
    if (waits->period > 1 && switches >= waits->period) {
        __atomic_fetch_add(&self.unseen_count, switches, __ATOMIC_RELAXED);
        waits->left_count += blocks;
        wait->unseen_us = end_gap(waits, off_ns) / US;
        return wait->unseen_us != 0;
    }
    if (waits->period == 1)
        pace(waits, time_ns);
    uint64_t extra_ns = share_of_gaps(waits, off_ns), all_ns = off_ns + extra_ns;
    waits->burst_ns += off_ns;
    if (all_ns == 0) /* recording was off */
        return false;
    wait->values[blocks == 0 ? COL_EXACT_RUNNABLE : COL_EXACT_BLOCKED + cause_of(thread, context)] =
        whole_us(waits, all_ns);
    wait->values[COL_EXACT_WAITS] = blocks == 0 ? 0 : 1 + count_of_gaps(waits);
    wait->values[COL_EXACT_VARIANCE] = (uint64_t)((double)extra_ns * (double)all_ns / VARIANCE_NS2);
    return true;
}

static int add_unseen(struct col_thread *thread, uint64_t time_ns, uint64_t us)
{
    uintptr_t nobody = UNSEEN;
    struct col_thread_stack stack = {1, COL_END_COMPLETE, &nobody};
    uint64_t values[COL_EXACT_VALUES] = {[COL_EXACT_BLOCKED + COL_WAIT_UNKNOWN] = us};
    return col_thread_frames_add(thread, FRAME, SOURCE, time_ns, values, COL_EXACT_VALUES, &stack);
}

int col_exact_waits_add(struct col_thread *thread, uint64_t time_ns, const struct col_exact_wait *wait,
                        const struct col_thread_stack *stack)
{
    return wait->unseen_us != 0
               ? add_unseen(thread, time_ns, wait->unseen_us)
               : col_thread_frames_add(thread, FRAME, SOURCE, time_ns, wait->values, COL_EXACT_VALUES, stack);
}

/* A wait that has not ended has no stack, as nobody saw it end. */
static void write_rest(struct col_thread *thread)
{
    struct col_thread_waits *waits = &thread->waits;
    uint64_t cpu_ns = col_clock_cpu_of(thread->tid), time_ns = col_clock_now();
    if (cpu_ns == 0)
        return;
    cpu_ns = growth(&waits->cpu_ns, cpu_ns);
    uint64_t wall_ns = growth(&waits->time_ns, time_ns);
    uint64_t off_ns = wall_ns > cpu_ns ? col_recording_between(time_ns - (wall_ns - cpu_ns), time_ns) : 0;
    uint64_t us = (waits->left_ns + off_ns) / US;
    if (us != 0 && col_recording_is_on_at(time_ns))
        add_unseen(thread, time_ns, us);
}

void col_exact_waits_end(struct col_thread *thread)
{
    if (thread->waits.event < 0)
        return;
    col_clock_event_switch(thread->waits.event, false);
    col_descriptors_close(thread->waits.event);
    thread->waits.event = -1;
    write_rest(thread);
}

void col_exact_waits_close(void)
{
    self.is_allowed = false;
    if (self.unseen_count != 0)
        col_event_message(
            (struct col_event_head){col_clock_now(), 0},
            &(struct col_event_message){.text = "switches came too fast to be looked at one by one: their waits are "
                                                "taken to be where those in between were",
                                        .count = self.unseen_count,
                                        .subject = "thinned"});
}
