/* wait_parts.c -- the arithmetic of waits on a clock that is made up: exact sums, shares by looks, looks that prove to be nothing; and when a thread began. Ends with 0 if all agree */
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "sample/recording.h"
#include "waits/look.h"
#include "waits/wait_threads.h"

#define US UINT64_C(1000)
#define MS (1000 * US)
#define LOOKS (10 * MS)
#define LOOK_TAKES (12 * US)
enum { KINDS = 4, NOBODY = KINDS };

static int failures;

static void check(bool is_true, const char *what, double value)
{
    if (!is_true) {
        printf("%s: %g\n", what, value);
        failures++;
    }
}

static struct col_wait_threads all = {.looks_ns = LOOKS};
static struct col_waiting_thread *thread;
static uint64_t now_ns = 1000 * MS, next_look_ns = 1000 * MS + LOOKS;
static uint64_t blocked_ns[KINDS + 1], ready_ns[KINDS + 1];
static double variance_ns2[KINDS + 1];
static uint64_t look_count;

static struct col_wait_stack *stack_of(unsigned kind)
{
    uintptr_t pcs[] = {0x1000 + kind, 0x2000};
    return col_wait_stack_take(pcs, 2, 0, COL_WAIT_TIMER);
}

static void settle(bool is_last)
{
    size_t count;
    col_wait_threads_account(&all, thread, now_ns, is_last);
    struct col_wait_sum *sums = col_wait_account_settle(&thread->account, is_last, &count);
    for (size_t i = 0; i < count; i++) {
        unsigned kind = sums[i].stack != NULL ? (unsigned)(sums[i].stack->pcs[0] - 0x1000) : NOBODY;
        blocked_ns[kind] += sums[i].blocked_ns;
        ready_ns[kind] += sums[i].ready_ns;
        variance_ns2[kind] += sums[i].variance_ns2;
        look_count += sums[i].look_count;
    }
    col_wait_account_release(sums, count);
}

/* Looks at a thread that waits from now on until `until_ns`; one that begins late in the wait ends behind it. */
static void look_until(unsigned kind, uint64_t until_ns)
{
    while (next_look_ns < until_ns) {
        if (next_look_ns >= now_ns && thread->seen == NULL) {
            bool is_torn = next_look_ns + LOOK_TAKES > until_ns;
            col_wait_threads_note(thread, stack_of(is_torn ? NOBODY : kind), next_look_ns, next_look_ns + LOOK_TAKES);
            if (!is_torn)
                col_wait_threads_prove(&all, thread);
        }
        next_look_ns += LOOKS - LOOKS / 4 + (uint64_t)rand() % (LOOKS / 2);
    }
}

static void wait_for(unsigned kind, uint64_t ns)
{
    col_wait_threads_turn(&all, thread, COL_THREAD_BLOCKED, now_ns);
    look_until(kind, now_ns + ns);
    now_ns += ns;
    col_wait_threads_turn(&all, thread, COL_THREAD_RUNNING, now_ns);
    now_ns += 5 * US;
    col_wait_threads_turn(&all, thread, COL_THREAD_READY, now_ns);
    now_ns += 5 * US;
    col_wait_threads_turn(&all, thread, COL_THREAD_RUNNING, now_ns);
    thread->account.late_ns += 10 * US; /* half of it was seen: the other half was at the wait's end */
    now_ns += 10 * US;
}

static void check_sums(void)
{
    static const uint64_t lengths[KINDS] = {50 * US, 400 * US, 5 * MS, 30 * MS};
    static const unsigned often[KINDS] = {100, 12, 2, 1};
    enum { ROUNDS = 4000 };
    uint64_t sum_ns = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned kind = 0; kind < KINDS; kind++)
            for (unsigned i = 0; i < often[kind]; i++)
                wait_for(kind, lengths[kind]);
        if (round % 20 == 0)
            settle(false);
    }
    settle(true);
    for (unsigned kind = 0; kind <= KINDS; kind++)
        sum_ns += blocked_ns[kind] + ready_ns[kind];
    uint64_t true_ns = 0, waits = 0;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        double truth = (double)(lengths[kind] * often[kind] * ROUNDS), known = (double)(blocked_ns[kind] + ready_ns[kind]);
        check(fabs(known / truth - 1) < 0.01, "a kind of its own length", known / truth - 1);
        true_ns += lengths[kind] * often[kind] * ROUNDS;
        waits += often[kind] * ROUNDS;
    }
    check(llabs((long long)(sum_ns - true_ns - waits * 5 * US)) < (long long)MS, "the sum is exact", (double)sum_ns - (double)true_ns);
    check(ready_ns[NOBODY] == waits * 5 * US, "preempted time is of no stack", (double)ready_ns[NOBODY]);
    double late_ns = (double)(ready_ns[0] + ready_ns[1] + ready_ns[2] + ready_ns[3]);
    check(fabs(late_ns / (double)(waits * 5 * US) - 1) < 0.01, "what was ready at the ends of waits", late_ns);
    check(look_count == all.kept_count, "each look is told once", (double)look_count - (double)all.kept_count);
    check(all.torn_count > 0 && all.kept_count > 100 * all.torn_count / 30, "looks that ran into the end", (double)all.torn_count);
}

static void forget_sums(void)
{
    for (unsigned kind = 0; kind <= KINDS; kind++)
        blocked_ns[kind] = ready_ns[kind] = 0, variance_ns2[kind] = 0;
}

/* Of many recordings 95 % are within 1.96 standard errors: of each kind, and of two together, whose error is that of all others. */
static void check_errors(uint64_t length_ns, unsigned waits, unsigned waits_between_sums, bool is_of_many_threads)
{
    enum { RECORDINGS = 400, ROWS = 4 };
    static struct col_wait_pool pool;
    unsigned right[ROWS] = {0};
    for (unsigned recording = 0; recording < RECORDINGS; recording++) {
        double truth[KINDS + 1] = {0}, sum = 0;
        forget_sums();
        for (unsigned i = 0; i < waits; i++) {
            unsigned kind = "0000011123"[rand() % 10] - '0';
            wait_for(kind, length_ns);
            truth[kind] += (double)length_ns + 5 * US;
            if ((i + 1) % waits_between_sums == 0 && is_of_many_threads)
                col_wait_account_pool(&thread->account, &pool, (uint64_t)rand() << 16 | (uint64_t)rand());
            if ((i + 1) % waits_between_sums == 0)
                settle(is_of_many_threads);
        }
        settle(true);
        thread->account.share_count = 0; /* the next recording knows nothing of this one */
        col_wait_pool_empty(&pool);
        for (unsigned kind = 0; kind < KINDS; kind++)
            sum += variance_ns2[kind];
        for (unsigned row = 0; row < ROWS; row++) {
            unsigned other = row == 3 ? 2 : NOBODY; /* the last row is of two */
            double off = (double)(blocked_ns[row] + ready_ns[row]) - truth[row];
            double variance = variance_ns2[row] + (row == 3 ? variance_ns2[other] : 0);
            off += row == 3 ? (double)(blocked_ns[other] + ready_ns[other]) - truth[other] : 0;
            variance = fmin(variance, sum - variance);
            right[row] += fabs(off) <= 1.96 * sqrt(variance);
        }
    }
    for (unsigned row = 0; row < ROWS; row++) {
        double share = (double)right[row] / RECORDINGS;
        check(share > 0.9 && share < 0.99, "recordings within 1.96 standard errors", share);
    }
}

/* Two kinds of one length share what was not looked at as often as they were seen. */
static void check_shares(void)
{
    double share[2] = {0};
    for (unsigned kind = 0; kind <= KINDS; kind++)
        blocked_ns[kind] = ready_ns[kind] = 0;
    for (unsigned i = 0; i < 400000; i++)
        wait_for(rand() % 10 < 7 ? 1 : 0, 90 * US);
    settle(true);
    for (unsigned kind = 0; kind < 2; kind++)
        share[kind] = (double)blocked_ns[kind] / (double)(blocked_ns[0] + blocked_ns[1]);
    double looks = 400000.0 * 90 * US / LOOKS;
    check(fabs(share[1] - 0.7) < 5 * sqrt(0.7 * 0.3 / looks), "the share of the more frequent one", share[1]);
}

/* Threads that wait but once, for 3 ms: each is too short to be seen, all of them together are not. */
static void check_pool(void)
{
    struct col_wait_pool pool = {.count = 0};
    for (unsigned kind = 0; kind <= KINDS; kind++)
        blocked_ns[kind] = ready_ns[kind] = 0;
    for (unsigned i = 0; i < 20000; i++) {
        wait_for(i % 4 == 0, 3 * MS);
        col_wait_account_pool(&thread->account, &pool, (uint64_t)rand() << 16);
        settle(true);
    }
    double share = (double)blocked_ns[1] / (double)(blocked_ns[0] + blocked_ns[1]);
    check(fabs(share - 0.25) < 0.03, "the share of a quarter of short-lived threads", share);
    check((double)blocked_ns[NOBODY] < 0.01 * (double)blocked_ns[0], "short-lived threads of which nothing is known", (double)blocked_ns[NOBODY]);
    col_wait_pool_empty(&pool);
}

static void check_table(void)
{
    for (uint32_t tid = 1; tid < 5000; tid++)
        col_wait_threads_add(&all, tid / 7 * 7 + 1, 100000 + tid * 3, COL_THREAD_READY, now_ns);
    for (uint32_t tid = 1; tid < 5000; tid += 2)
        col_wait_threads_remove(&all, col_wait_threads_find(&all, 100000 + tid * 3));
    unsigned wrong = 0;
    for (uint32_t tid = 1; tid < 5000; tid++) {
        const struct col_waiting_thread *found = col_wait_threads_find(&all, 100000 + tid * 3);
        wrong += (found != NULL) == (tid % 2) || (found != NULL && found->process->pid != tid / 7 * 7 + 1);
    }
    check(wrong == 0, "threads that are found, and those that are not", wrong);
}

/* ---- when a process was recorded ---- */

static void check_between(const struct col_recording_turns *turns, uint64_t from_ns, uint64_t to_ns, uint64_t expected_ns)
{
    uint64_t ns = col_recording_turns_between(turns, from_ns, to_ns);
    check(ns == expected_ns, "recorded between two moments", (double)ns - (double)expected_ns);
}

static void turn(struct col_recording_turns *turns, enum col_recording state, uint64_t time_ns)
{
    turns->state = state;
    col_recording_turns_note(turns, state, time_ns);
}

static void check_turns(void)
{
    struct col_recording_turns turns = {.end_ns = UINT64_MAX};
    turn(&turns, COL_RECORDING_ON, 10 * MS);
    check_between(&turns, 5 * MS, 29 * MS, 24 * MS);
    turn(&turns, COL_RECORDING_PAUSED, 20 * MS);
    check_between(&turns, 5 * MS, 9 * MS, 4 * MS);
    check_between(&turns, 15 * MS, 40 * MS, 5 * MS);
    turn(&turns, COL_RECORDING_ON, 30 * MS);
    check_between(&turns, 15 * MS, 40 * MS, 15 * MS);
    check_between(&turns, 22 * MS, 28 * MS, 0);
    check_between(&turns, 35 * MS, 35 * MS, 0);
    turns.start_ns = 35 * MS;
    turns.end_ns = 60 * MS;
    check_between(&turns, 5 * MS, 34 * MS, 0);
    check_between(&turns, 15 * MS, 100 * MS, 25 * MS);
    turns.state = COL_RECORDING_CLOSED; /* that is not noted so far */
    check_between(&turns, 40 * MS, 50 * MS, 10 * MS);
}

static void check_many_turns(void)
{
    struct col_recording_turns turns = {.end_ns = UINT64_MAX};
    for (unsigned i = 0; i < 5 * COL_RECORDING_TURNS; i++) /* more than are kept */
        turn(&turns, i % 2 != 0 ? COL_RECORDING_ON : COL_RECORDING_PAUSED, i * MS);
    uint64_t last_ns = (5 * COL_RECORDING_TURNS - 1) * MS;
    check_between(&turns, last_ns - 100 * MS, last_ns, 50 * MS);
    check_between(&turns, last_ns - COL_RECORDING_TURNS * MS, last_ns + 10 * MS, (COL_RECORDING_TURNS / 2 + 10) * MS);
}

uint64_t __real_col_clock_now(void);
uint64_t __wrap_col_clock_now(void);
static bool is_resumed_next;

/* Where recording was paused and that is not noted yet, it may be resumed by another thread, or by a signal handler. */
uint64_t __wrap_col_clock_now(void)
{
    if (is_resumed_next) {
        is_resumed_next = false;
        col_recording_change(COL_RECORDING_PAUSED, COL_RECORDING_ON);
    }
    return __real_col_clock_now();
}

static void check_turns_at_once(void)
{
    col_recording_set(COL_RECORDING_ON);
    is_resumed_next = true;
    col_recording_change(COL_RECORDING_ON, COL_RECORDING_PAUSED);
    uint64_t from_ns = col_clock_now();
    check(col_recording_now() == COL_RECORDING_ON, "state after a pause that was resumed before it was noted", col_recording_now());
    check(col_recording_between(from_ns, from_ns + MS) == MS, "recorded after it", (double)col_recording_between(from_ns, from_ns + MS));
}

/* A wait that begins before a pause and ends after it. */
static void check_pause(void)
{
    struct col_wait_threads paused = {.looks_ns = LOOKS};
    struct col_waiting_thread *waiting = col_wait_threads_add(&paused, 7, 7, COL_THREAD_RUNNING, 0);
    waiting->process->turns = calloc(1, sizeof *waiting->process->turns);
    waiting->process->turns->end_ns = UINT64_MAX;
    turn(waiting->process->turns, COL_RECORDING_PAUSED, 20 * MS);
    turn(waiting->process->turns, COL_RECORDING_ON, 50 * MS);
    col_wait_threads_turn(&paused, waiting, COL_THREAD_BLOCKED, 10 * MS);
    col_wait_threads_turn(&paused, waiting, COL_THREAD_READY, 55 * MS);
    col_wait_threads_turn(&paused, waiting, COL_THREAD_RUNNING, 57 * MS);
    check(waiting->account.known_ns == 17 * MS, "waited and ready beside a pause", (double)waiting->account.known_ns);
    check(waiting->settled.off_ns == 30 * MS, "waited in a pause", (double)waiting->settled.off_ns);
    col_wait_threads_free(&paused);
}

static void *look_at_own_beginning(void *beginning)
{
    *(uint64_t *)beginning = col_look_beginning((uint32_t)getpid(), (uint32_t)syscall(SYS_gettid));
    return NULL;
}

/* The kernel's ticks are 10 ms. */
static void check_beginning(void)
{
    uint64_t from_ns = col_clock_now(), beginning_ns = 0;
    pthread_t beginner;
    pthread_create(&beginner, NULL, look_at_own_beginning, &beginning_ns);
    pthread_join(beginner, NULL);
    check(beginning_ns + 6 * MS > from_ns, "a thread began before it was made, ns", (double)from_ns - (double)beginning_ns);
    check(beginning_ns < col_clock_now() + 6 * MS, "a thread begins after its end, ns", (double)beginning_ns);
    check(col_look_beginning((uint32_t)getpid(), 1u << 30) == 0, "no thread has begun", 0);
}

int main(void)
{
    check_beginning();
    check_turns();
    check_many_turns();
    check_turns_at_once();
    check_pause();
    thread = col_wait_threads_add(&all, 4711, 4711, COL_THREAD_RUNNING, now_ns);
    check_sums();
    check_shares();
    check_pool();
    check_errors(400 * US, 6000, 500, false);
    check_errors(3 * MS, 600, 20, false);
    check_errors(3 * MS, 600, 1, true);
    check_table();
    col_wait_threads_free(&all);
    return failures != 0;
}
