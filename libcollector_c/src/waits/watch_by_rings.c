/* watch_by_rings.c -- looks first, and asks the kernel's records afterwards what each look was worth */
#include "waits/watch_by_rings.h"

#include "base/clock.h"

#define BATCH 16u /* looks between two readings of the rings */

static void note_loss(struct col_watching *watching, uint64_t count)
{
    watching->lost_count += count;
    for (size_t i = 0; i < watching->threads.count; i++) {
        struct col_waiting_thread *thread = watching->threads.threads[i];
        thread->settled.has_lost = thread->settled.has_run = true;
    }
}

/* One that did not begin before our eyes has had its turns already. */
static struct col_waiting_thread *meet(struct col_watching *watching, const struct col_switch_record *record)
{
    struct col_schedule now;
    bool is_new = record->kind == COL_SWITCH_FORK;
    struct col_waiting_thread *thread = col_wait_threads_add(
        &watching->threads, record->pid, record->tid, is_new ? COL_THREAD_READY : COL_THREAD_RUNNING, record->time_ns);
    if (thread != NULL && !is_new && col_look_schedule(record->pid, record->tid, &now))
        thread->settled.delay_ns = now.delay_ns; /* its CPU time is not up to date until it waits */
    if (thread != NULL)
        thread->settled.has_cpu = is_new;
    return thread;
}

static struct col_waiting_thread *thread_of(struct col_watching *watching, const struct col_switch_record *record)
{
    struct col_waiting_thread *thread = col_wait_threads_find(&watching->threads, record->tid);
    if (record->kind == COL_SWITCH_FORK && thread != NULL) { /* the end of an earlier one of that number was lost */
        col_watching_remove(watching, thread, record->time_ns);
        thread = NULL;
    }
    return thread == NULL && record->kind != COL_SWITCH_EXIT ? meet(watching, record) : thread;
}

static void apply_to(struct col_watching *watching, struct col_waiting_thread *thread,
                     const struct col_switch_record *record)
{
    static const enum col_thread_state states[] = {[COL_SWITCH_BLOCKED] = COL_THREAD_BLOCKED,
                                                   [COL_SWITCH_PREEMPTED] = COL_THREAD_READY,
                                                   [COL_SWITCH_RUNNING] = COL_THREAD_RUNNING};
    col_watching_ask(thread->process, record->time_ns);
    switch (record->kind) {
    case COL_SWITCH_BLOCKED:
    case COL_SWITCH_PREEMPTED:
    case COL_SWITCH_RUNNING:
        col_wait_threads_turn(&watching->threads, thread, states[record->kind], record->time_ns);
        break;
    case COL_SWITCH_EXIT:
        col_watching_remove(watching, thread, record->time_ns);
        break;
    case COL_SWITCH_EXEC: /* the other threads of the process have ended, and said so */
        col_watching_settle(watching, thread, record->time_ns - 1, true);
        col_watching_forget_turns(thread->process);
        thread->process->has_new_code = true;
        break;
    case COL_SWITCH_CODE_MAPPED:
        thread->process->has_new_code = true;
        break;
    default:
        break;
    }
}

static void read_rings(struct col_watching *watching, struct col_switch_rings *rings)
{
    struct col_switch_record record;
    col_switch_rings_look(rings);
    while (col_switch_rings_next(rings, &record)) {
        if (record.kind == COL_SWITCH_LOST) {
            note_loss(watching, record.lost_count);
            continue;
        }
        struct col_waiting_thread *thread = thread_of(watching, &record);
        if (thread != NULL)
            apply_to(watching, thread, &record);
    }
}

static void prove(struct col_watching *watching, const uint32_t *tids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct col_waiting_thread *thread = col_wait_threads_find(&watching->threads, tids[i]);
        if (thread != NULL)
            col_wait_threads_prove(&watching->threads, thread);
    }
}

/*
 * A thread that has not run since a look at it still waits there. Whether another waits is asked right before it is looked at: of two waits that are as long, one that
 * has begun a moment ago must not be passed over more often.
 */
static void look_at_all(struct col_watching *watching, struct col_switch_rings *rings)
{
    uint32_t looked[BATCH];
    size_t count = 0;
    read_rings(watching, rings);
    for (size_t i = 0; i < watching->threads.count; i++) {
        struct col_waiting_thread *thread = watching->threads.threads[i];
        if (thread->seen != NULL)
            continue;
        read_rings(watching, rings);
        thread = i < watching->threads.count ? watching->threads.threads[i] : NULL; /* it may have ended */
        if (thread == NULL || thread->state != COL_THREAD_BLOCKED || thread->seen != NULL)
            continue;
        if (col_watching_look(watching, thread) == COL_LOOK_WAITING)
            looked[count++] = thread->tid;
        if (count == BATCH) {
            read_rings(watching, rings);
            prove(watching, looked, count);
            count = 0;
        }
    }
    read_rings(watching, rings);
    prove(watching, looked, count);
}

void col_watch_by_rings(struct col_watching *watching, struct col_switch_rings *rings, int end)
{
    while (!col_switch_rings_wait(rings, end, watching->next_look_ns)) {
        uint64_t now_ns = col_clock_now();
        if (now_ns < watching->next_look_ns) { /* a ring is filling */
            read_rings(watching, rings);
            continue;
        }
        col_watching_begin_round(watching);
        look_at_all(watching, rings);
        col_watching_end_round(watching);
        col_watching_settle_due(watching);
    }
    read_rings(watching, rings);
    col_watching_settle_all(watching);
}
