/* weight_parts.c -- sample/weight.c, missing_time.c and tick_rest.c with a clock of our own: a thread that begins in the kernel and goes on in its own code. Prints what is wrong */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arch.h"
#include "base/clock.h"
#include "sample/switch_rate.h"
#include "sample/tick_rest.h"
#include "sample/weight.h"
#include "target/own_status.h"

#define PERIOD_NS 1000000u
#define SLOW_NS 4000000u
#define KERNEL_PHASE_SLOW_TICKS 12
#define OWN_PHASE_SLOW_TICKS 60

static uint64_t cpu_ns, system_ns;
static bool is_in_kernel;
static int failures, revivals;

uint64_t col_clock_thread_cpu(void)
{
    return cpu_ns;
}

void col_clock_thread_times(uint64_t *user, uint64_t *system)
{
    *system = system_ns;
    *user = cpu_ns - system_ns;
}

/* All code that is looked at is what is before the interrupted instruction. */
bool col_safe_read_bytes(uintptr_t address, void *into, size_t bytes)
{
    (void)address;
    uint32_t instruction = bytes == 2 ? 0x050f /* x86-64 */ : 0xd4000001 /* aarch64 */;
    memset(into, 0, bytes);
    memcpy(into, &instruction, is_in_kernel ? bytes : 0);
    return true;
}

bool col_safe_read_copy(struct col_proved_pages *proved, uintptr_t address, void *into, size_t bytes)
{
    (void)proved;
    return col_safe_read_bytes(address, into, bytes);
}

static bool has_event = true, is_event_wanted = true;
static int event_switches;
static uint64_t switches;

void col_clock_thread_switches(uint64_t *system, uint64_t *count)
{
    *system = system_ns;
    *count = switches;
}

bool col_clock_source_has_event(const struct col_thread *thread)
{
    (void)thread;
    return has_event;
}

enum col_clock_kind col_clock_source_kind(void)
{
    return COL_CLOCK_SIGTRAP;
}

bool col_clock_source_stop_event(void)
{
    has_event = is_event_wanted = false;
    event_switches++;
    return true;
}

bool col_clock_source_is_event_stopped(void)
{
    return !is_event_wanted;
}

static bool is_traced;

bool col_own_status_may_be_traced(void)
{
    return true;
}

struct col_own_status col_own_status_read(void)
{
    return (struct col_own_status){.tracer = is_traced};
}

void col_clock_source_restart_event(void)
{
    is_event_wanted = true;
    event_switches++;
}

void col_clock_source_back_up(struct col_thread *thread, bool is_on)
{
    thread->backup = is_on ? 1 : -1;
}

void col_messages_say(unsigned severity, const char *subject, const char *text)
{
    (void)severity, (void)subject, (void)text;
}

void col_clock_source_follow(struct col_thread *thread)
{
    (void)thread;
    has_event = is_event_wanted;
}

void col_clock_source_revive(struct col_thread *thread)
{
    (void)thread;
    revivals++;
}

void col_clock_source_pace(struct col_thread *thread, bool is_fast)
{
    thread->is_slow_timer_fast = is_fast;
}

void col_clock_source_count_faults(struct col_thread *thread)
{
    (void)thread;
}

static uint64_t missing_ns; /* what ticks were told to be missing before them */

static uint64_t tick(struct col_thread *thread, enum col_tick kind, uint64_t *before_ns)
{
    ucontext_t context;
    memset(&context, 0, sizeof context);
    struct col_weight weight = col_weight_take(thread, kind, &context, 2 * cpu_ns); /* there is another thread on its processor */
    uint64_t ns = weight.user_ns + weight.system_ns;
    missing_ns += weight.missing_ns;
    if (ns > 2 * (cpu_ns - *before_ns)) { /* the time that has passed */
        printf("at %" PRIu64 " ms: %" PRIu64 " us, of which %" PRIu64 " system, after %" PRIu64 "\n", cpu_ns / 1000000, ns / 1000,
               weight.system_ns / 1000, (cpu_ns - *before_ns) / 1000);
        failures++;
    }
    *before_ns = cpu_ns;
    return ns;
}

/* It begins with half of its time in page faults, where no event ticks; `found_of_4` of 4 slow ticks come in a system call. */
static void begin_in_kernel(int found_of_4)
{
    struct col_thread thread = {.tid = 1, .event = -1, .faults = -2, .timer = -1};
    uint64_t slow_ns, user_ns, sum_ns = 0;
    cpu_ns = system_ns = 0;
    col_weight_start(PERIOD_NS);
    col_weight_baseline(&thread, 0, 0);
    slow_ns = user_ns = cpu_ns;
    missing_ns = 0;
    for (int i = 0; i < KERNEL_PHASE_SLOW_TICKS; i++) {
        cpu_ns += SLOW_NS;
        system_ns += SLOW_NS / 2;
        user_ns = cpu_ns - SLOW_NS;
        sum_ns += tick(&thread, COL_TICK_USER, &user_ns);
        is_in_kernel = i % 4 < found_of_4;
        sum_ns += tick(&thread, COL_TICK_SLOW, &slow_ns);
    }
    if (found_of_4 != 0 && missing_ns != (SLOW_NS - PERIOD_NS) * KERNEL_PHASE_SLOW_TICKS) { /* else they are soon user time */
        printf("before %d ticks %" PRIu64 " us were missing\n", KERNEL_PHASE_SLOW_TICKS, missing_ns / 1000);
        failures++;
    }
    is_in_kernel = false;
    user_ns = cpu_ns - PERIOD_NS;
    for (int i = 0; i < OWN_PHASE_SLOW_TICKS * 4; i++) {
        cpu_ns += PERIOD_NS;
        sum_ns += tick(&thread, COL_TICK_USER, &user_ns);
        if (i % 4 == 3)
            sum_ns += tick(&thread, COL_TICK_SLOW, &slow_ns);
    }
    uint64_t all_ns = sum_ns + thread.waiting_ns + thread.open_ns + (cpu_ns - thread.cpu_ns);
    if (all_ns != cpu_ns) {
        printf("weights and what waits are %" PRIu64 " us of %" PRIu64 "\n", all_ns / 1000, cpu_ns / 1000);
        failures++;
    }
}

/*
 * Half of its time is in system calls, where no event ticks, in turns as long as those of its own code. Three of ten slow ticks find it there, or half of them but for
 * twelve in a row, by chance: what is missing is system time all the same, as long as it has no page faults.
 */
static void alternate(bool has_faults, bool has_streaks)
{
    struct col_thread thread = {.tid = 1, .event = -1, .faults = 1, .timer = -1};
    uint64_t user_ns = 0, placed_ns = 0, turns = 200;
    cpu_ns = system_ns = 0;
    col_weight_start(PERIOD_NS);
    col_weight_baseline(&thread, 0, 0);
    for (uint64_t ms = 0; ms < turns * 10; ms++) {
        bool is_call = ms % 10 >= 5;
        ucontext_t context;
        memset(&context, 0, sizeof context);
        cpu_ns += PERIOD_NS;
        system_ns += is_call ? PERIOD_NS : 0;
        if (!is_call)
            tick(&thread, COL_TICK_USER, &user_ns);
        if (has_faults && ms % 5 == 2)
            thread.fault_cpu_ns = cpu_ns;
        is_in_kernel = is_call && (has_streaks ? ms % 200 < 140 : ms % 50 >= 26);
        if (ms % 10 == 1 || ms % 10 == 6)
            placed_ns += col_weight_take(&thread, COL_TICK_SLOW, &context, 2 * cpu_ns).system_ns;
    }
    bool is_placed = placed_ns * 20 >= cpu_ns * 9;
    if (is_placed == has_faults) {
        printf("%s page faults: %" PRIu64 " ms of %" PRIu64 " are system time\n", has_faults ? "with" : "without", placed_ns / 1000000, cpu_ns / 1000000);
        failures++;
    }
}

/*
 * One tick of twelve is missing because of brief system calls, in which the slow timer finds the thread once in twelve times, but by chance in two of twenty-four or in none: nearly all
 * that is missing is system time. A thread that has not been found there at all has none.
 */
static void call_seldom(bool is_found)
{
    struct col_thread thread = {.tid = 1, .event = -1, .faults = -1, .timer = -1, .is_slow_timer_fast = true};
    uint64_t user_ns = 0, missed_ns = 0, placed_ns = 0;
    cpu_ns = system_ns = 0;
    col_weight_start(PERIOD_NS);
    col_weight_baseline(&thread, 0, 0);
    for (unsigned i = 1; i <= 4800; i++) {
        ucontext_t context;
        memset(&context, 0, sizeof context);
        cpu_ns += PERIOD_NS;
        is_in_kernel = false;
        if (i % 12 != 0)
            tick(&thread, COL_TICK_USER, &user_ns);
        else
            missed_ns += PERIOD_NS;
        unsigned slow = i / 4 % 48;
        is_in_kernel = is_found && (slow == 5 || slow == 7 || slow == 40 || slow == 46);
        if (i % 4 == 0)
            placed_ns += col_weight_take(&thread, COL_TICK_SLOW, &context, 2 * cpu_ns).system_ns;
    }
    if (is_found ? placed_ns < missed_ns * 9 / 10 || placed_ns > missed_ns : placed_ns != 0) {
        printf("%" PRIu64 " ms of brief calls, %" PRIu64 " are system time\n", missed_ns / 1000000, placed_ns / 1000000);
        failures++;
    }
}

/*
 * A quarter of its time is in system calls, and its slow ticks, 16 ms apart and now and then 4, find it there at random: by chance in fewer than one of six for some while.
 * Nearly all that is missing is system time.
 */
static void call_at_random(void)
{
    struct col_thread thread = {.tid = 1, .event = -1, .faults = -1, .timer = -1, .is_slow_timer_fast = true};
    uint64_t user_ns = 0, missed_ns = 0, placed_ns = 0, slow_ms = 4;
    uint32_t random = 1;
    cpu_ns = system_ns = 0;
    col_weight_start(PERIOD_NS);
    col_weight_baseline(&thread, 0, 0);
    for (uint64_t ms = 1; ms <= 100000; ms++) {
        ucontext_t context;
        memset(&context, 0, sizeof context);
        cpu_ns += PERIOD_NS;
        system_ns += ms % 4 == 0 ? PERIOD_NS : 0;
        is_in_kernel = false;
        if (ms % 4 != 0)
            tick(&thread, COL_TICK_USER, &user_ns);
        else
            missed_ns += PERIOD_NS;
        if (ms != slow_ms)
            continue;
        random = random * 1664525 + 1013904223;
        is_in_kernel = random >> 30 == 0;
        slow_ms += random >> 16 & 3 ? 16 : 4;
        placed_ns += col_weight_take(&thread, COL_TICK_SLOW, &context, 2 * cpu_ns).system_ns;
    }
    if (placed_ns < missed_ns * 99 / 100 || placed_ns > missed_ns) {
        printf("%" PRIu64 " ms of calls at random, %" PRIu64 " are system time\n", missed_ns / 1000000, placed_ns / 1000000);
        failures++;
    }
}

/* Ticks that could not be taken: the time up to the last of them is theirs, the rest that of the next one. Slow ticks between change nothing of that. */
static void lose_ticks(void)
{
    struct col_thread thread = {.tid = 1, .event = -1, .faults = -2, .timer = -1};
    uint64_t user_ns = 0, time_ns = 0;
    cpu_ns = system_ns = 0;
    col_weight_start(PERIOD_NS);
    col_weight_baseline(&thread, 0, 0);
    cpu_ns = PERIOD_NS;
    uint64_t sum_ns = tick(&thread, COL_TICK_USER, &user_ns), none_ns = col_weight_take_lost(&thread, &time_ns);
    thread.lost_cpu_ns = cpu_ns = 50 * PERIOD_NS;
    thread.lost_time_ns = 2 * cpu_ns;
    uint64_t lost_ns = col_weight_take_lost(&thread, &time_ns), again_ns = col_weight_take_lost(&thread, &time_ns);
    user_ns = cpu_ns;
    cpu_ns += PERIOD_NS;
    uint64_t next_ns = tick(&thread, COL_TICK_USER, &user_ns);
    if (none_ns + again_ns != 0 || lost_ns != 49 * PERIOD_NS || time_ns != 100 * PERIOD_NS || next_ns != PERIOD_NS || sum_ns != PERIOD_NS) {
        printf("of lost ticks: %" PRIu64 " us, then %" PRIu64 " for the next one\n", lost_ns / 1000, next_ns / 1000);
        failures++;
    }
}

/* Of its own code for 80 ms without a tick: with several slow ticks in it the event is dead, with one at the end the host withheld both. */
static void fall_silent(uint64_t look_ns, bool is_fast)
{
    bool is_withheld = look_ns == 80000000;
    struct col_thread thread = {.tid = 1, .event = -1, .faults = -2, .timer = -1, .is_slow_timer_fast = is_fast};
    uint64_t slow_ns = 0;
    cpu_ns = system_ns = 0;
    is_in_kernel = false;
    revivals = 0;
    col_weight_start(PERIOD_NS);
    col_weight_baseline(&thread, 0, 0);
    while (cpu_ns < 80000000) {
        cpu_ns += look_ns;
        tick(&thread, COL_TICK_SLOW, &slow_ns);
    }
    if ((revivals == 0) != is_withheld) {
        printf("%d revivals of an event that was silent for 80 ms, %s\n", revivals, is_withheld ? "as the slow timer was" : "unlike the slow timer");
        failures++;
    }
}

/* A thread that is switched so many times a millisecond for so long; its slow timer ticks, and its event as long as it is on. */
static uint64_t be_switched(struct col_thread *thread, unsigned switches_a_ms, unsigned ms)
{
    uint64_t sum_ns = 0, user_ns = cpu_ns, slow_ns = cpu_ns;
    for (unsigned i = 1; i <= ms; i++) {
        cpu_ns += PERIOD_NS;
        switches += switches_a_ms;
        sum_ns += has_event ? tick(thread, COL_TICK_USER, &user_ns) : 0;
        if (i % 4 == 0)
            sum_ns += tick(thread, COL_TICK_SLOW, &slow_ns);
    }
    return sum_ns;
}

static void expect_event(bool is_on, int changes, const char *when)
{
    if (has_event != is_on || event_switches != changes) {
        printf("%s the event is %s, switched %d times\n", when, has_event ? "on" : "off", event_switches);
        failures++;
    }
}

static void expect_backup(const struct col_thread *thread, bool is_on, const char *when)
{
    if ((thread->backup != -1) != is_on || thread->is_slow_timer_fast == has_event) {
        printf("%s the thread has %s backup, and its timer is %s\n", when, thread->backup == -1 ? "no" : "a", thread->is_slow_timer_fast ? "fast" : "slow");
        failures++;
    }
}

/* The timer found the thread in the kernel at each second tick, and then does not find it for long: half of the time waits for the next tick that does. */
static uint64_t be_unseen(struct col_thread *thread)
{
    uint64_t sum_ns = 0, before_ns = cpu_ns, own_ns, called_ns;
    for (unsigned i = 0; i < 64; i++) {
        cpu_ns += SLOW_NS;
        switches += 40 * SLOW_NS / PERIOD_NS;
        is_in_kernel = i % 2 == 1;
        sum_ns += tick(thread, COL_TICK_SLOW, &before_ns);
    }
    is_in_kernel = false;
    cpu_ns += 100 * PERIOD_NS;
    switches += 200 * 40;
    own_ns = tick(thread, COL_TICK_BACKUP, &before_ns);
    cpu_ns += SLOW_NS;
    switches += 4 * 40;
    sum_ns += tick(thread, COL_TICK_SLOW, &before_ns);
    is_in_kernel = true;
    switches += 50 * 40;
    cpu_ns += 50 * PERIOD_NS; /* tick() allows a sample no more than twice the time since the last */
    called_ns = tick(thread, COL_TICK_SLOW, &before_ns);
    is_in_kernel = false;
    if (own_ns != 50 * PERIOD_NS || called_ns != 100 * PERIOD_NS) {
        printf("of 100 ms that the timer did not see %" PRIu64 " us are the thread's own, and %" PRIu64 " went to its next call\n", own_ns / 1000, called_ns / 1000);
        failures++;
    }
    return sum_ns + own_ns + called_ns;
}

/* The timer always found the thread in the kernel while it was switched often; then it works and is not found. Only as much waits as its few switches take. */
static uint64_t begin_to_work(struct col_thread *thread)
{
    uint64_t sum_ns = 0, before_ns = cpu_ns;
    for (unsigned i = 0; i < 64; i++) {
        cpu_ns += SLOW_NS;
        switches += 40 * SLOW_NS / PERIOD_NS;
        is_in_kernel = true;
        sum_ns += tick(thread, COL_TICK_SLOW, &before_ns);
    }
    is_in_kernel = false;
    cpu_ns += 15 * PERIOD_NS;
    switches += 80; /* two milliseconds of often, and thirteen of its own */
    uint64_t own_ns = tick(thread, COL_TICK_BACKUP, &before_ns);
    if (own_ns != 13 * PERIOD_NS) {
        printf("of 13 ms of its own, after many switches, %" PRIu64 " us are\n", own_ns / 1000);
        failures++;
    }
    return sum_ns + own_ns;
}

/* The event comes back after twice as long each time, at most 128 ms. */
static uint64_t be_switched_again(struct col_thread *thread)
{
    uint64_t sum_ns = 0;
    int changes = event_switches;
    for (unsigned calm_ms = 16; calm_ms <= 128; calm_ms *= 2) {
        sum_ns += be_switched(thread, 40, 40);
        sum_ns += be_switched(thread, 1, calm_ms - 8);
        expect_event(false, ++changes, "before it has been calm for long enough");
        sum_ns += be_switched(thread, 1, 24);
        expect_event(true, ++changes, "after it has been calm for long enough");
    }
    return sum_ns;
}

/* The event is off while the thread is switched often, comes back once it has not been for long, and every nanosecond is some sample's all the while. */
static void switch_often(void)
{
    struct col_thread thread = {.tid = 1, .event = -1, .faults = -1, .backup = -1, .timer = -1};
    cpu_ns = system_ns = switches = 0;
    is_in_kernel = false;
    col_weight_start(PERIOD_NS);
    col_switch_rate_start();
    col_weight_baseline(&thread, 0, 0);
    uint64_t sum_ns = be_switched(&thread, 5, 400);
    expect_event(true, 0, "after five switches a millisecond");
    is_traced = true;
    sum_ns += be_switched(&thread, 40, 40);
    expect_event(true, 0, "after forty switches a millisecond under a tracer");
    is_traced = false;
    sum_ns += be_switched(&thread, 40, 40);
    expect_event(false, 1, "after forty switches a millisecond");
    uint64_t user_ns = cpu_ns;
    cpu_ns += PERIOD_NS / 2;
    uint64_t late_ns = tick(&thread, COL_TICK_USER, &user_ns) + tick(&thread, COL_TICK_FAULTS, &user_ns);
    expect_backup(&thread, true, "when the event was closed a moment ago");
    cpu_ns -= PERIOD_NS / 2;
    sum_ns += be_switched(&thread, 40, 80);
    user_ns = cpu_ns;
    expect_backup(&thread, false, "while the timer ticks in time");
    cpu_ns += 20 * PERIOD_NS;
    switches += 20 * 40;
    sum_ns += tick(&thread, COL_TICK_SLOW, &user_ns);
    expect_backup(&thread, true, "when a tick was overdue");
    late_ns += tick(&thread, COL_TICK_BACKUP, &user_ns);
    sum_ns += be_unseen(&thread);
    sum_ns += be_switched(&thread, 40, 400);
    sum_ns += be_switched(&thread, 1, 16);
    expect_event(true, 2, "soon after the last of many switches");
    sum_ns += be_switched_again(&thread);
    sum_ns += be_switched(&thread, 40, 40);
    expect_event(false, 11, "when it is switched often again");
    sum_ns += begin_to_work(&thread);
    sum_ns += be_switched(&thread, 1, 700);
    expect_event(true, 12, "long after the last of many switches");
    expect_backup(&thread, false, "when the event is on");
    uint64_t all_ns = sum_ns + thread.waiting_ns + thread.open_ns + (cpu_ns - thread.cpu_ns);
    if (all_ns != cpu_ns || late_ns != 0 || thread.open_ns > 2 * PERIOD_NS) { /* what its few switches took before it worked */
        printf("of %" PRIu64 " us beside many switches %" PRIu64 " are known, %" PRIu64 " of ticks of an event that was off\n", cpu_ns / 1000, all_ns / 1000, late_ns / 1000);
        failures++;
    }
}

/* The event is closed while time of its missing ticks waits: the calls that the timer finds afterwards have their own time, and no more. */
static void stop_amid_calls(void)
{
    struct col_thread thread = {.tid = 1, .event = -1, .faults = -1, .backup = -1, .timer = -1};
    uint64_t user_ns = 0, called_ns = 0;
    const uint64_t missed_ns = 19 * PERIOD_NS, calls_ns = 10 * SLOW_NS;
    cpu_ns = system_ns = 0;
    is_in_kernel = false;
    col_weight_start(PERIOD_NS);
    col_weight_baseline(&thread, 0, 0);
    cpu_ns += missed_ns + PERIOD_NS;
    tick(&thread, COL_TICK_USER, &user_ns);
    has_event = is_event_wanted = false;
    is_in_kernel = true;
    for (uint64_t end_ns = cpu_ns + calls_ns; cpu_ns < end_ns;) {
        ucontext_t context;
        memset(&context, 0, sizeof context);
        cpu_ns += SLOW_NS;
        called_ns += col_weight_take(&thread, COL_TICK_SLOW, &context, 2 * cpu_ns).system_ns;
    }
    has_event = is_event_wanted = true;
    is_in_kernel = false;
    if (called_ns != calls_ns || thread.open_ns != missed_ns) {
        printf("%" PRIu64 " us of calls after the event was closed are %" PRIu64 ", and %" PRIu64 " of %" PRIu64 " are left open\n", calls_ns / 1000, called_ns / 1000,
               thread.open_ns / 1000, missed_ns / 1000);
        failures++;
    }
}

/* Ticks a period apart whose walks take so long: how many of a hundred are walked, and whether all of their time is given to some. */
static void walk_for(uint64_t period_ns, uint64_t walk_ns, bool is_costly, unsigned least, unsigned most)
{
    struct col_thread thread = {.deep.is_costly = is_costly};
    unsigned walked = 0;
    uint64_t given_ns = 0;
    cpu_ns = 0;
    col_tick_rest_start(period_ns);
    for (unsigned tick = 0; tick < 100; tick++) {
        struct col_weight weight = {period_ns, 0};
        cpu_ns += period_ns;
        if (col_tick_rest_holds(&thread, &weight))
            continue;
        uint64_t begin_ns = cpu_ns;
        walked++, given_ns += weight.user_ns;
        cpu_ns += walk_ns;
        col_tick_rest_judge(&thread, begin_ns);
        cpu_ns = begin_ns;
    }
    if (walked < least || walked > most || given_ns + thread.held_user_ns != 100 * period_ns) {
        printf("%u of 100 ticks of %" PRIu64 " ns were walked, for %" PRIu64 " ns each: %u to %u expected\n", walked, period_ns, walk_ns, least, most);
        failures++;
    }
}

/* Where walks take most of a period every other tick rests, and more of them the longer they take; after cheap ones none does. */
static void rest(void)
{
    walk_for(50000, 20000, false, 100, 100);
    walk_for(50000, 45000, false, 50, 51);
    walk_for(50000, 500000, false, 5, 7);
    walk_for(1000000, 900000, true, 50, 51);
    walk_for(1000000, 100000, true, 100, 100);
}

/* One long walk may have been put aside by the host. */
static void rest_after_two(void)
{
    struct col_thread thread = {.is_long = false};
    const uint64_t period_ns = 50000, walks_ns[] = {45000, 20000, 45000, 20000, 45000, 45000};
    const size_t count = sizeof walks_ns / sizeof *walks_ns;
    col_tick_rest_start(period_ns);
    for (size_t i = 0; i <= count; i++) {
        struct col_weight weight = {period_ns, 0};
        bool is_held = col_tick_rest_holds(&thread, &weight);
        if (is_held != (i == count)) {
            printf("tick %zu is %s\n", i, is_held ? "held, after one long walk" : "walked, after two long ones");
            failures++;
        }
        cpu_ns = i < count ? walks_ns[i] : 0;
        col_tick_rest_judge(&thread, 0);
    }
}

int main(void)
{
    rest();
    rest_after_two();
    for (int is_fast = 0; is_fast <= 1; is_fast++) {
        fall_silent(is_fast ? SLOW_NS : 20000000, is_fast);
        fall_silent(27000000, is_fast); /* where other processes have the kernel's ticks */
        fall_silent(80000000, is_fast);
    }
    lose_ticks();
    for (int found = 0; found <= 4; found++)
        begin_in_kernel(found);
    alternate(false, false);
    alternate(true, false);
    alternate(false, true);
    call_seldom(true);
    call_seldom(false);
    call_at_random();
    switch_often();
    stop_amid_calls();
    return failures != 0;
}
