/* watching.c -- looks, and what is written of threads */
#include "waits/watching.h"

#include <stdlib.h>

#include "base/clock.h"
#include "experiment/format.h"
#include "sample/remote_process.h"
#include "waits/wait_log.h"

#define SETTLE_NS 500000000u
#define MOST_LOOKS_NS 1000000000u
#define LOOKS_SHARE 50u /* of the time, one part in so many is spent on looks */
#define MOST_FRAMES 1024u
#define FAILURES 8u
#define ALONE_NS 1000000000u
#define PIECES 16u /* a wait that goes on is written in pieces that are no shorter than this part of it */
#define PIECE_NS 2000000000u

void col_watching_begin(struct col_watching *watching, uint64_t looks_ns)
{
    uint64_t now_ns = col_clock_now();
    *watching =
        (struct col_watching){.asked_looks_ns = looks_ns, .next_look_ns = now_ns + looks_ns, .random = now_ns | 1};
    watching->threads.looks_ns = looks_ns;
}

static void forget(struct col_watching *watching, struct col_waiting_thread *thread)
{
    if (thread->process->thread_count == 1 && thread->process->unwinder != NULL)
        col_remote_close(thread->process->unwinder);
    col_wait_threads_remove(&watching->threads, thread);
}

void col_watching_end(struct col_watching *watching)
{
    while (watching->threads.count > 0)
        forget(watching, watching->threads.threads[0]);
    col_wait_threads_free(&watching->threads);
}

/* A number by chance (xorshift). */
static uint64_t draw(struct col_watching *watching)
{
    watching->random ^= watching->random << 13;
    watching->random ^= watching->random >> 7;
    watching->random ^= watching->random << 17;
    return watching->random;
}

/* Looks must not fall in step with the program. */
static uint64_t vary(struct col_watching *watching, uint64_t ns)
{
    return ns - ns / 4 + draw(watching) % (ns / 2 + 1);
}

void col_watching_begin_round(struct col_watching *watching)
{
    watching->round_ns = col_clock_now();
    watching->round_cpu_ns = col_clock_thread_cpu();
}

void col_watching_end_round(struct col_watching *watching)
{
    uint64_t looks_ns = (col_clock_thread_cpu() - watching->round_cpu_ns) * LOOKS_SHARE;
    looks_ns = looks_ns > watching->asked_looks_ns ? looks_ns : watching->asked_looks_ns;
    watching->threads.looks_ns = looks_ns < MOST_LOOKS_NS ? looks_ns : MOST_LOOKS_NS;
    watching->next_look_ns = watching->round_ns + vary(watching, watching->threads.looks_ns);
}

/* NULL: it could not be read to its end. Half of a stack would be taken for another one. */
static struct col_wait_stack *walk(const struct col_waiting_thread *thread, const struct col_look *look)
{
    struct col_waiting_process *process = thread->process;
    struct col_remote_registers registers = {.pc = (uintptr_t)look->pc, .sp = (uintptr_t)look->sp};
    uintptr_t pcs[MOST_FRAMES];
    unsigned end;
    if (process->unwinder == NULL)
        process->unwinder = col_remote_open((pid_t)process->pid);
    else if (process->has_new_code)
        col_remote_changed(process->unwinder);
    process->has_new_code = false;
    size_t count = process->unwinder != NULL
                       ? col_remote_python(process->unwinder, (pid_t)thread->tid, &registers, pcs, MOST_FRAMES, &end)
                       : 0;
    if (count == 0 || end == COL_END_UNREADABLE)
        return NULL;
    enum col_wait_cause cause = col_look_cause(process->pid, look);
    if (cause == COL_WAIT_LOCK && col_remote_is_gil(process->unwinder, (uintptr_t)look->arguments[0]))
        cause = COL_WAIT_GIL;
    return col_wait_stack_take(pcs, count, end, cause);
}

/* What may not be looked at, or cannot be read, is left alone for a while. */
static void note_failure(struct col_waiting_process *process, uint64_t now_ns)
{
    if (++process->failure_count % FAILURES == 0)
        process->left_alone_until_ns = now_ns + ALONE_NS;
}

enum col_look_result col_watching_look(struct col_watching *watching, struct col_waiting_thread *thread)
{
    struct col_look look;
    uint64_t begin_ns = col_clock_now();
    if (begin_ns < thread->process->left_alone_until_ns)
        return COL_LOOK_REFUSED;
    enum col_look_result result = col_look_at(thread->process->pid, thread->tid, &look);
    struct col_wait_stack *stack = result == COL_LOOK_WAITING ? walk(thread, &look) : NULL;
    watching->look_count++;
    watching->running_count += result == COL_LOOK_RUNNING || result == COL_LOOK_GONE;
    watching->refused_count += result == COL_LOOK_REFUSED;
    watching->unread_count += result == COL_LOOK_WAITING && stack == NULL;
    if (stack != NULL) {
        thread->process->failure_count = 0;
        col_wait_threads_note(thread, stack, look.time_ns, col_clock_now());
    } else if (result == COL_LOOK_WAITING || result == COL_LOOK_REFUSED) {
        note_failure(thread->process, begin_ns);
        result = COL_LOOK_REFUSED;
    }
    return result;
}

void col_watching_ask(struct col_waiting_process *process, uint64_t time_ns)
{
    struct col_recording_turns turns;
    if (time_ns <= process->turns_ns || process->unwinder == NULL || process->has_new_code)
        return;
    process->turns_ns = col_clock_now();
    if (!col_remote_turns(process->unwinder, &turns))
        return;
    if (process->turns == NULL)
        process->turns = malloc(sizeof turns);
    if (process->turns != NULL)
        *process->turns = turns;
}

void col_watching_forget_turns(struct col_waiting_process *process)
{
    free(process->turns);
    process->turns = NULL;
}

static uint64_t sum_of(const struct col_wait_sum *sums, size_t count)
{
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < count; i++)
        sum_ns += sums[i].blocked_ns + sums[i].ready_ns;
    return sum_ns;
}

/* Where records are missing, waits are too: what the clock has and the processor has not was waiting. */
static void make_up(struct col_wait_sum *sums, size_t count, uint64_t expected_ns)
{
    double known_ns = (double)sum_of(sums, count), factor = known_ns > 0 ? (double)expected_ns / known_ns : 0;
    for (size_t i = 0; i < count && known_ns > 0; i++) {
        sums[i].blocked_ns = (uint64_t)((double)sums[i].blocked_ns * factor);
        sums[i].ready_ns = (uint64_t)((double)sums[i].ready_ns * factor);
        sums[i].variance_ns2 *= factor * factor;
    }
}

/* What the thread has waited and been ready since the scheduler was last asked, by its clock; false: that is not known exactly. */
static bool find_off_cpu(const struct col_waiting_thread *thread, const struct col_schedule *now, uint64_t *off_ns)
{
    uint64_t wall_ns = thread->accounted_ns - thread->settled.time_ns, cpu_ns = now->cpu_ns - thread->settled.cpu_ns;
    uint64_t passed_ns = cpu_ns + thread->settled.off_ns;
    *off_ns = wall_ns > passed_ns ? wall_ns - passed_ns : 0;
    return thread->settled.has_cpu && thread->state != COL_THREAD_RUNNING;
}

static void note_usual(struct col_wait_usual *usual, int64_t late_ns, int64_t over_ns, uint64_t count)
{
    usual->late_ns += (double)late_ns;
    usual->over_ns += (double)over_ns;
    usual->count += (double)count;
}

/* While recording was off threads came as late as else. */
static int64_t recorded_delay(struct col_waiting_thread *thread, const struct col_schedule *now)
{
    int64_t delay_ns = (int64_t)(now->delay_ns - thread->settled.delay_ns) - (int64_t)thread->settled.off_ready_ns;
    double known_ns = (double)thread->account.known_ns, all_ns = known_ns + (double)thread->settled.off_ns;
    thread->settled.off_ready_ns = 0;
    return thread->settled.off_ns == 0 ? delay_ns : (int64_t)((double)delay_ns * known_ns / all_ns);
}

/* Holds the account of a thread against the scheduler's. True: records are missing, and `expected_ns` is what there should be. */
static bool ask_scheduler(struct col_waiting_thread *thread, const struct col_schedule *now, uint64_t *expected_ns)
{
    struct col_wait_account *account = &thread->account;
    int64_t late_ns = recorded_delay(thread, now);
    bool has_off_cpu = find_off_cpu(thread, now, expected_ns), has_lost = has_off_cpu && thread->settled.has_lost;
    account->late_ns += late_ns;
    thread->settled.delay_ns = now->delay_ns;
    if (has_off_cpu && !has_lost) {
        int64_t over_ns = (int64_t)(account->known_ns - *expected_ns);
        account->over_ns += over_ns;
        late_ns = account->late_ns - thread->settled.late_ns;
        note_usual(&thread->usual, late_ns, over_ns, account->known_count);
        note_usual(&thread->process->usual, late_ns, over_ns, account->known_count);
    }
    if (thread->state != COL_THREAD_RUNNING) {
        thread->settled.time_ns = thread->accounted_ns;
        thread->settled.cpu_ns = now->cpu_ns;
        thread->settled.has_cpu = true;
        thread->settled.has_lost = false;
        account->known_ns = account->known_count = thread->settled.off_ns = 0;
    }
    return has_lost;
}

/* One that has ended cannot be asked for any more: its waits are taken to be like those before, or like others of its process. */
static void guess_scheduler(struct col_waiting_thread *thread)
{
    const struct col_wait_usual *usual = thread->usual.count > 0 ? &thread->usual : &thread->process->usual;
    if (usual->count == 0)
        return;
    thread->account.late_ns += (int64_t)(usual->late_ns / usual->count * (double)thread->account.known_count);
    thread->account.over_ns += (int64_t)(usual->over_ns / usual->count * (double)thread->account.known_count);
}

/* What is known and not written when the scheduler was asked is to be written besides what comes after that. */
static void note_kept(struct col_waiting_thread *thread, bool has_asked, uint64_t written_ns)
{
    if (!has_asked) {
        thread->settled.kept_ns -= written_ns < thread->settled.kept_ns ? written_ns : thread->settled.kept_ns;
        return;
    }
    thread->settled.kept_ns = 0;
    for (unsigned octave = 0; octave < COL_WAIT_OCTAVES; octave++)
        thread->settled.kept_ns += thread->account.unseen_ns[octave];
}

void col_watching_settle(struct col_watching *watching, struct col_waiting_thread *thread, uint64_t time_ns,
                         bool is_last)
{
    struct col_schedule now;
    uint64_t expected_ns;
    size_t count;
    bool has_lost = false, has_asked = false;
    col_watching_ask(thread->process, time_ns);
    col_wait_threads_account(&watching->threads, thread, time_ns, is_last);
    if (thread->settled.has_run && col_look_schedule(thread->process->pid, thread->tid, &now)) {
        has_lost = ask_scheduler(thread, &now, &expected_ns);
        has_asked = thread->state != COL_THREAD_RUNNING;
    } else if (thread->settled.has_run) {
        guess_scheduler(thread);
    }
    struct col_wait_sum *sums = col_wait_account_settle(&thread->account, is_last || has_lost, &count);
    if (has_lost)
        make_up(sums, count, expected_ns + thread->settled.kept_ns);
    note_kept(thread, has_asked, sum_of(sums, count));
    thread->settled.late_ns = thread->account.late_ns;
    thread->settled.has_run = false;
    thread->settled.is_known = true;
    thread->settled.last_ns = time_ns;
    col_wait_log_add(thread, time_ns, sums, count);
    col_wait_account_release(sums, count);
}

/* Not in the middle of its turn on a processor, of which the scheduler's clock knows nothing yet; and a wait that goes on more and more rarely. */
static bool is_to_settle(const struct col_waiting_thread *thread, uint64_t time_ns)
{
    if (thread->state == COL_THREAD_RUNNING || time_ns < thread->settled.last_ns + SETTLE_NS)
        return false;
    uint64_t piece_ns = (time_ns - thread->since_ns) / PIECES;
    return thread->settled.has_run || time_ns - thread->accounted_ns >= (piece_ns > PIECE_NS ? piece_ns : PIECE_NS);
}

void col_watching_settle_due(struct col_watching *watching)
{
    uint64_t time_ns = col_clock_now();
    for (size_t i = 0; i < watching->threads.count; i++)
        if (is_to_settle(watching->threads.threads[i], time_ns))
            col_watching_settle(watching, watching->threads.threads[i], time_ns, false);
}

void col_watching_settle_all(struct col_watching *watching)
{
    uint64_t time_ns = col_clock_now();
    for (size_t i = 0; i < watching->threads.count; i++)
        col_watching_settle(watching, watching->threads.threads[i], time_ns, true);
}

void col_watching_remove(struct col_watching *watching, struct col_waiting_thread *thread, uint64_t time_ns)
{
    col_wait_threads_turn(&watching->threads, thread, COL_THREAD_RUNNING, time_ns);
    if (!thread->settled.is_known)
        col_wait_account_pool(&thread->account, &thread->process->pool, draw(watching));
    col_watching_settle(watching, thread, time_ns, true);
    forget(watching, thread);
}
