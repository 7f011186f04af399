/* wait_threads.c -- a table of threads, and what the records make of them */
#include "waits/wait_threads.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_PLACES 256u

static size_t place_of(const struct col_wait_threads *all, uint32_t tid)
{
    return (tid * 2654435761u) & (all->place_count - 1);
}

struct col_waiting_thread *col_wait_threads_find(const struct col_wait_threads *all, uint32_t tid)
{
    if (all->place_count == 0)
        return NULL;
    for (size_t at = place_of(all, tid); all->places[at] != NULL; at = (at + 1) & (all->place_count - 1))
        if (all->places[at]->tid == tid)
            return all->places[at];
    return NULL;
}

static void put(struct col_wait_threads *all, struct col_waiting_thread *thread)
{
    size_t at = place_of(all, thread->tid);
    while (all->places[at] != NULL)
        at = (at + 1) & (all->place_count - 1);
    all->places[at] = thread;
}

/* At most half of the places are taken. */
static bool make_room(struct col_wait_threads *all)
{
    if (all->count < all->room)
        return true;
    size_t room = all->room != 0 ? all->room * 2 : FIRST_PLACES / 2;
    struct col_waiting_thread **threads = realloc(all->threads, room * sizeof *threads);
    if (threads == NULL)
        return false;
    all->threads = threads;
    struct col_waiting_thread **places = calloc(2 * room, sizeof *places);
    if (places == NULL)
        return false;
    free(all->places);
    all->places = places;
    all->place_count = 2 * room;
    all->room = room;
    for (size_t i = 0; i < all->count; i++)
        put(all, threads[i]);
    return true;
}

static struct col_waiting_process *process_of(const struct col_wait_threads *all, uint32_t pid, bool is_new)
{
    struct col_waiting_thread *leader = col_wait_threads_find(all, pid);
    if (leader != NULL && leader->process->pid == pid)
        return leader->process;
    for (size_t i = 0; i < all->count && !is_new; i++)
        if (all->threads[i]->process->pid == pid)
            return all->threads[i]->process;
    struct col_waiting_process *process = calloc(1, sizeof *process);
    if (process != NULL)
        process->pid = pid;
    return process;
}

struct col_waiting_thread *col_wait_threads_add(struct col_wait_threads *all, uint32_t pid, uint32_t tid,
                                                enum col_thread_state state, uint64_t time_ns)
{
    struct col_waiting_process *process = make_room(all) ? process_of(all, pid, pid == tid) : NULL;
    struct col_waiting_thread *thread = process != NULL ? malloc(sizeof *thread) : NULL;
    if (thread == NULL) {
        if (process != NULL && process->thread_count == 0)
            free(process);
        return NULL;
    }
    *thread = (struct col_waiting_thread){.tid = tid,
                                          .index = (uint32_t)all->count,
                                          .process = process,
                                          .state = state,
                                          .since_ns = time_ns,
                                          .accounted_ns = time_ns};
    thread->settled.time_ns = thread->settled.last_ns = time_ns;
    thread->settled.has_run = true;
    process->thread_count++;
    all->threads[all->count++] = thread;
    put(all, thread);
    return thread;
}

/* Those behind it move up, so that a search never meets an empty place too early. */
static void take_place(struct col_wait_threads *all, const struct col_waiting_thread *thread)
{
    size_t mask = all->place_count - 1, at = place_of(all, thread->tid);
    while (all->places[at] != thread)
        at = (at + 1) & mask;
    all->places[at] = NULL;
    for (at = (at + 1) & mask; all->places[at] != NULL; at = (at + 1) & mask) {
        struct col_waiting_thread *moved = all->places[at];
        all->places[at] = NULL;
        put(all, moved);
    }
}

static void free_thread(struct col_waiting_thread *thread)
{
    if (--thread->process->thread_count == 0) {
        col_wait_pool_empty(&thread->process->pool);
        free(thread->process->turns);
        free(thread->process);
    }
    col_wait_stack_drop(thread->look.stack);
    col_wait_stack_drop(thread->seen);
    col_wait_account_free(&thread->account);
    free(thread);
}

void col_wait_threads_remove(struct col_wait_threads *all, struct col_waiting_thread *thread)
{
    take_place(all, thread);
    all->threads[thread->index] = all->threads[--all->count];
    all->threads[thread->index]->index = thread->index;
    free_thread(thread);
}

void col_wait_threads_free(struct col_wait_threads *all)
{
    for (size_t i = 0; i < all->count; i++)
        free_thread(all->threads[i]);
    free(all->threads);
    free(all->places);
    *all = (struct col_wait_threads){0};
}

static void forget_look(struct col_waiting_thread *thread)
{
    col_wait_stack_drop(thread->look.stack);
    thread->look.stack = NULL;
    thread->look.begin_ns = 0;
}

void col_wait_threads_note(struct col_waiting_thread *thread, struct col_wait_stack *stack, uint64_t begin_ns,
                           uint64_t end_ns)
{
    forget_look(thread);
    thread->look.stack = stack;
    thread->look.begin_ns = begin_ns;
    thread->look.end_ns = end_ns;
}

/* Whether a wait from since_ns to `time_ns` holds all of the look. */
static void judge_look(struct col_wait_threads *all, struct col_waiting_thread *thread, uint64_t time_ns)
{
    if (thread->look.begin_ns == 0)
        return;
    bool is_proved = thread->state == COL_THREAD_BLOCKED && thread->since_ns <= thread->look.begin_ns &&
                     thread->look.end_ns <= time_ns;
    if (is_proved) {
        col_wait_stack_drop(thread->seen);
        thread->seen = col_wait_stack_hold(thread->look.stack);
        thread->seen_after_ns = thread->look.begin_ns - thread->since_ns;
    }
    all->kept_count += is_proved;
    all->torn_count += !is_proved;
    forget_look(thread);
}

void col_wait_threads_prove(struct col_wait_threads *all, struct col_waiting_thread *thread)
{
    judge_look(all, thread, UINT64_MAX);
}

uint64_t col_wait_threads_recorded(const struct col_waiting_process *process, uint64_t from_ns, uint64_t to_ns)
{
    return process->turns != NULL ? col_recording_turns_between(process->turns, from_ns, to_ns) : to_ns - from_ns;
}

/* How much of the time up to here was recorded, of what is not accounted so far. */
static uint64_t take_recorded(struct col_waiting_thread *thread, uint64_t time_ns)
{
    uint64_t recorded_ns = col_wait_threads_recorded(thread->process, thread->accounted_ns, time_ns);
    uint64_t off_ns = time_ns - thread->accounted_ns - recorded_ns;
    thread->settled.off_ns += off_ns;
    thread->settled.off_ready_ns += thread->state == COL_THREAD_READY ? off_ns : 0;
    thread->accounted_ns = time_ns;
    return recorded_ns;
}

void col_wait_threads_account(struct col_wait_threads *all, struct col_waiting_thread *thread, uint64_t time_ns,
                              bool is_over)
{
    uint64_t whole_ns = time_ns - thread->since_ns;
    bool is_certain = thread->seen != NULL && whole_ns > all->looks_ns + all->looks_ns / 4;
    if (thread->state != COL_THREAD_BLOCKED || time_ns <= thread->accounted_ns || (!is_over && !is_certain))
        return;
    struct col_wait wait = {.ns = take_recorded(thread, time_ns),
                            .whole_ns = whole_ns,
                            .looks_ns = all->looks_ns,
                            .age_ns = thread->seen_after_ns,
                            .is_over = is_over,
                            .stack = thread->seen};
    if (wait.ns != 0)
        col_wait_account_add(&thread->account, &wait);
}

void col_wait_threads_turn(struct col_wait_threads *all, struct col_waiting_thread *thread, enum col_thread_state state,
                           uint64_t time_ns)
{
    if (time_ns > thread->look.begin_ns)
        judge_look(all, thread, time_ns);
    col_wait_threads_account(all, thread, time_ns, true);
    if (thread->state == COL_THREAD_READY && time_ns > thread->since_ns)
        col_wait_account_add_ready(&thread->account, take_recorded(thread, time_ns));
    col_wait_stack_drop(thread->seen);
    thread->seen = NULL;
    thread->state = state;
    thread->since_ns = thread->accounted_ns = time_ns;
    thread->settled.has_run = true;
}
