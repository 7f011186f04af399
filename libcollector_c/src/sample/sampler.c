/* sampler.c -- what happens at a tick: enter, time, unwind, write, leave */
#include "sample/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/os_signal.h"
#include "experiment/event.h"
#include "experiment/open_frame.h"
#include "sample/clock_source.h"
#include "sample/counter_group.h"
#include "sample/exact_waits.h"
#include "sample/metrics.h"
#include "sample/overflow.h"
#include "sample/python_stack.h"
#include "sample/recording.h"
#include "sample/thread_counters.h"
#include "sample/thread_frames.h"
#include "sample/switch_rate.h"
#include "sample/tick_rest.h"
#include "sample/tracer_watch.h"
#include "sample/unwind.h"
#include "sample/unwind_cache.h"
#include "sample/weight.h"
#include "target/jit_debug.h"

#define US 1000u
/* More than one slow tick tells: the host may have withheld all before it. */
#define WITHHELD_NS (COL_SLOW_PERIOD_NS + 4000000u)

static struct {
    uint32_t source;
    int walker_count;    /* threads that are walking their stacks */
    int unloading_count; /* threads inside dlclose */
    uint64_t drop_count;
    uint32_t pid;
} self;

void col_sampler_start(uint32_t source, uint64_t period_ns)
{
    col_weight_start(period_ns);
    col_tick_rest_start(period_ns);
    col_switch_rate_start();
    self.source = source;
    self.walker_count = self.unloading_count = 0; /* a fork child has none of its parent's */
    self.drop_count = 0;
    self.pid = (uint32_t)col_os_process_id();
}

/* Takes whole microseconds out of a sum of nanoseconds and leaves the rest for the next sample. */
static uint64_t whole_us(uint64_t *rest_ns, uint64_t ns)
{
    uint64_t sum_ns = *rest_ns + ns;
    *rest_ns = sum_ns % US;
    return sum_ns / US;
}

/* Of ticks that were missing, or whose stack was not looked at. */
static uint64_t waiting_ns(const struct col_thread *thread)
{
    return thread->waiting_ns + thread->open_ns + thread->held_user_ns + thread->held_system_ns;
}

static enum col_drop_cause cause_of(int error)
{
    return error == -EFBIG ? COL_DROP_LOG_FULL : error == -ENOMEM ? COL_DROP_NO_MEMORY : COL_DROP_NO_SPACE;
}

static void write_sample(struct col_thread *thread, uint64_t time_ns, struct col_weight weight,
                         const struct col_thread_stack *stack)
{
    int error = 0;
    if (!thread->has_frame) {
        error = col_open_frame_acquire(&thread->frame, thread->tid, self.source,
                                       COL_CLOCK_VALUES + col_thread_counters_count(), time_ns);
        thread->has_frame = error == 0;
    }
    if (error == 0) {
        uint64_t values[COL_CLOCK_VALUES + COL_THREAD_COUNTERS] = {whole_us(&thread->cpu_us_rest_ns, weight.user_ns),
                                                                   whole_us(&thread->system_rest_ns, weight.system_ns),
                                                                   weight.missing_ns / 1000};
        col_thread_counters_take(thread, values + COL_CLOCK_VALUES);
        error = col_open_frame_add(&thread->frame, time_ns, values, stack->pcs, stack->count, stack->end);
    }
    if (error == 0)
        col_open_frame_note_pending(&thread->frame, waiting_ns(thread));
    if (error == -EBADF)
        thread->has_frame = false; /* the log was closed and opened again */
    if (error != 0)
        thread->drops[cause_of(error)]++;
}

/* The native stack and the Python functions that are run there, in memory that only threads of a Python process need. */
static size_t walk_both(const struct col_python_runtime *python, struct col_thread *thread, const ucontext_t *context,
                        enum col_stack_end *end)
{
    struct col_thread_walk *work = thread->walk;
    if (work == NULL)
        work = thread->walk = col_os_map_memory(sizeof *work);
    if (work == NULL)
        return col_unwind_walk_deep(context, &thread->bounds, &thread->deep, thread->last.pcs, thread->sps,
                                    COL_THREAD_DEPTH, end);
    struct col_native_stack native = {work->pcs, work->sps, 0, &thread->bounds};
    native.count =
        col_unwind_walk_deep(context, &thread->bounds, &thread->deep, work->pcs, work->sps, COL_THREAD_DEPTH, end);
    bool was_rooted = *end == COL_END_COMPLETE || *end == COL_END_GUESSED, is_rooted = was_rooted;
    size_t count =
        col_python_stack_merge(python, &native, work->python, thread->last.pcs, COL_THREAD_DEPTH, &is_rooted);
    if (is_rooted != was_rooted)
        *end = is_rooted ? COL_END_COMPLETE : COL_END_DEPTH_LIMIT;
    return count;
}

/* Into thread->last. While an object is being unloaded its unwind table may vanish under us: the leaf must do. */
static void walk(struct col_thread *thread, const ucontext_t *context)
{
    enum col_stack_end end = COL_END_NO_UNWIND_INFO;
    __atomic_fetch_add(&self.walker_count, 1, __ATOMIC_SEQ_CST);
    bool is_unsafe = __atomic_load_n(&self.unloading_count, __ATOMIC_SEQ_CST) != 0 && !thread->is_unloading;
    const struct col_python_runtime *python = col_python_runtime();
    if (is_unsafe)
        thread->last.count = col_unwind_walk(context, &thread->bounds, thread->last.pcs, NULL, 1, &end);
    else if (python != NULL)
        thread->last.count = walk_both(python, thread, context, &end);
    else
        thread->last.count = col_unwind_walk_deep(context, &thread->bounds, &thread->deep, thread->last.pcs,
                                                  thread->sps, COL_THREAD_DEPTH, &end);
    __atomic_fetch_sub(&self.walker_count, 1, __ATOMIC_SEQ_CST);
    thread->last.end = is_unsafe ? COL_END_NO_UNWIND_INFO : end;
}

static void write_drops(struct col_thread *thread, uint64_t time_ns)
{
    for (unsigned cause = 1; cause < COL_DROP_CAUSES; cause++) {
        uint64_t count = thread->drops[cause];
        if (count != thread->drops_written[cause] &&
            col_event_dropnotify((struct col_event_head){time_ns, thread->tid},
                                 &(struct col_event_dropnotify){.cause = cause, .count = count}) == 0)
            thread->drops_written[cause] = count;
    }
}

/* Ticks that could not be taken tell of time, not of a stack. */
static void write_lost(struct col_thread *thread, bool is_recording)
{
    static const struct col_thread_stack no_stack = {.end = COL_END_NO_UNWIND_INFO};
    uint64_t time_ns, ns = col_weight_take_lost(thread, &time_ns);
    if (ns != 0 && is_recording)
        write_sample(thread, time_ns, (struct col_weight){ns, 0, 0}, &no_stack);
}

/* A thread we were not told of (a bare clone), or the first tick after its begin. */
static void meet(struct col_thread *thread)
{
    if (!thread->is_announced)
        col_sampler_thread_begin(thread, 0);
}

/*
 * A metric plugin may call what is a cancellation point, where a thread that is to be cancelled would end: in the middle of our tick, and in a place where the program does not expect it.
 * It ends afterwards, if it would have ended anywhere: when the tick is over, since whoever sets the asynchronous type may not come back.
 */
struct cancellation {
    bool is_put_off;
    int state, type;
};

static void put_off_cancellation(struct cancellation *before)
{
    before->is_put_off = true;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before->type);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->state);
}

/* The type comes last, because in some C libraries only then PTHREAD_CANCELED is what the thread returns; and under the mask that the thread had, with which its cleanup then runs. */
static void allow_cancellation(const struct cancellation *before, const ucontext_t *context)
{
    int ignored;
    if (!before->is_put_off)
        return;
    pthread_setcancelstate(before->state, &ignored);
    if (before->type == PTHREAD_CANCEL_DEFERRED)
        return;
    uint64_t mask;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    uint64_t ours = col_os_change_mask(SIG_SETMASK, mask);
    pthread_setcanceltype(before->type, &ignored);
    col_os_change_mask(SIG_SETMASK, ours);
}

/* So many events have happened, whatever CPU time the thread has used. */
static void take_overflow(struct col_thread *thread, const ucontext_t *context, unsigned event)
{
    uint64_t time_ns = col_clock_now();
    meet(thread);
    if (!col_recording_is_on_at(time_ns))
        return;
    walk(thread, context);
    int error = col_overflow_add(thread, event, time_ns, &thread->last);
    if (error != 0)
        thread->drops[cause_of(error)]++;
}

/* The thread is back on its processor, at the end of a wait. */
static void take_switch(struct col_thread *thread, const ucontext_t *context)
{
    struct col_exact_wait wait;
    meet(thread);
    uint64_t time_ns = col_clock_now();
    bool is_wait = col_exact_waits_take(thread, context, time_ns, &wait);
    if (!is_wait || !col_recording_is_open()) /* what of it was recorded is known, and may be told amid a pause */
        return;
    walk(thread, context);
    int error = col_exact_waits_add(thread, time_ns, &wait, &thread->last);
    if (error != 0)
        thread->drops[cause_of(error)]++;
}

static struct col_weight weigh(struct col_thread *thread, enum col_tick kind, const ucontext_t *context,
                               uint64_t time_ns)
{
    if (col_recording_is_on_at(time_ns))
        return col_weight_take(thread, kind, context, time_ns);
    col_tick_rest_end(thread);
    col_weight_skip(thread, kind, context, time_ns);
    return (struct col_weight){0, 0, 0};
}

static void take_tick(struct col_thread *thread, const ucontext_t *context, enum col_tick kind,
                      struct cancellation *cancellation)
{
    col_thread_counters_enter(thread);
    if (kind != COL_TICK_SLOW) /* those seldom walk */
        col_unwind_cache_expect(context, thread->last.pcs, thread->last.count);
    meet(thread);
    uint64_t time_ns = col_clock_now();
    write_lost(thread, col_recording_is_on_at(time_ns));
    col_tracer_watch_look(kind, time_ns);
    struct col_weight weight = weigh(thread, kind, context, time_ns);
    bool is_recording = !col_tracer_watch_tick(thread, time_ns) && col_recording_is_on_at(time_ns);
    if (!is_recording) {
        col_thread_counters_forget(thread);
    } else if (weight.user_ns + weight.system_ns != 0 && !col_tick_rest_holds(thread, &weight)) {
        uint64_t begin_ns = thread->cpu_ns;
        walk(thread, context);
        write_sample(thread, time_ns, weight, &thread->last);
        if (kind == COL_TICK_USER || kind == COL_TICK_TIMER) /* others may leave a part of the time to the next one */
            col_tick_rest_judge(thread, begin_ns);
        col_jit_debug_look(time_ns, false);
        if (col_metrics_note_sample(time_ns, context)) {
            put_off_cancellation(cancellation);
            col_metrics_tick(time_ns);
        }
    }
    col_thread_counters_leave(thread);
}

void col_sampler_tick(const ucontext_t *context, enum col_tick kind)
{
    int saved_errno = errno;
    struct cancellation cancellation = {.is_put_off = false};
    struct col_thread *thread = col_thread_enter();
    if (thread != NULL) {
        if (kind < COL_TICK_SWITCH)
            take_tick(thread, context, kind, &cancellation);
        else if (kind == COL_TICK_SWITCH)
            take_switch(thread, context);
        else
            take_overflow(thread, context, kind - COL_TICK_OVERFLOW);
        col_thread_leave(thread);
    }
    errno = saved_errno;
    allow_cancellation(&cancellation, context);
}

void col_sampler_thread_begin(struct col_thread *thread, uintptr_t start_address)
{
    char name[16] = "";
    thread->start_address = start_address;
    if (thread->is_announced)
        return; /* a tick was quicker */
    thread->is_announced = true;
    uint64_t time_ns = col_clock_now();
    col_weight_baseline(thread, start_address != 0 ? 0 : col_clock_thread_cpu(), start_address != 0 ? 0 : time_ns);
    col_os_thread_name(thread->tid, name, sizeof name);
    col_event_thr_create((struct col_event_head){time_ns, thread->tid},
                         &(struct col_event_thr_create){.name = name, .start_address = start_address});
    col_thread_counters_begin(thread, start_address != 0);
    col_exact_waits_begin(thread);
}

void col_sampler_thread_baseline(struct col_thread *thread)
{
    col_weight_baseline(thread, col_clock_thread_cpu(), col_clock_now());
    col_thread_counters_begin(thread, false);
}

/* The CPU time of a thread, `cpu_ns` in all, that no sample stands for because none was due. */
static uint64_t pending_ns(const struct col_thread *thread, uint64_t cpu_ns, bool is_recording)
{
    uint64_t dead_ns =
        thread->silent_ns > WITHHELD_NS ? thread->silent_ns : 0; /* where the event was dead, samples were due */
    uint64_t seen_ns = thread->cpu_ns + dead_ns;
    return (is_recording && cpu_ns > seen_ns ? cpu_ns - seen_ns : 0) + waiting_ns(thread);
}

static void write_end(struct col_thread *thread, const char *name, uint64_t time_ns, uint64_t user_ns,
                      uint64_t system_ns, uint64_t pending, bool is_exit)
{
    col_thread_counters_end(thread);
    write_drops(thread, time_ns);
    for (unsigned cause = 1; cause < COL_DROP_CAUSES; cause++)
        __atomic_fetch_add(&self.drop_count, thread->drops[cause], __ATOMIC_RELAXED);
    if (thread->has_frame)
        col_open_frame_release(&thread->frame);
    thread->has_frame = false;
    col_thread_frames_release(thread);
    if (thread->is_announced)
        col_event_thr_exit(
            (struct col_event_head){time_ns, thread->tid},
            &(struct col_event_thr_exit){
                .name = name, .user_ns = user_ns, .system_ns = system_ns, .is_exit = is_exit, .pending_ns = pending});
}

void col_sampler_thread_end(struct col_thread *thread)
{
    char name[16] = "";
    uint64_t user_ns, system_ns, time_ns = col_clock_now();
    col_os_thread_name(thread->tid, name, sizeof name);
    col_clock_thread_times(&user_ns, &system_ns);
    bool is_recording = col_recording_is_on_at(time_ns);
    write_lost(thread, is_recording);
    write_end(thread, name, time_ns, user_ns, system_ns, pending_ns(thread, user_ns + system_ns, is_recording), true);
}

static void close_thread(struct col_thread *thread, uint64_t time_ns, bool is_recording)
{
    uint64_t cpu_ns = col_clock_cpu_of(thread->tid);
    char name[16] = "";
    col_os_thread_name(thread->tid, name, sizeof name);
    col_clock_source_thread_end(thread);
    write_lost(thread, is_recording);
    write_end(thread, name, time_ns, cpu_ns, 0, pending_ns(thread, cpu_ns, is_recording), false);
}

static void set_unloading(bool is_unloading)
{
    struct col_thread *thread = col_thread_enter();
    if (thread == NULL)
        return;
    thread->is_unloading = is_unloading;
    col_thread_leave(thread);
}

void col_sampler_unload_begin(void)
{
    set_unloading(true);
    __atomic_fetch_add(&self.unloading_count, 1, __ATOMIC_SEQ_CST);
    for (unsigned turn = 0; turn < 10000 && __atomic_load_n(&self.walker_count, __ATOMIC_SEQ_CST) != 0; turn++)
        col_os_yield(); /* a walk takes microseconds; one that was put aside by the kernel gets its turn */
}

void col_sampler_unload_end(void)
{
    __atomic_fetch_sub(&self.unloading_count, 1, __ATOMIC_SEQ_CST);
    set_unloading(false);
}

uint64_t col_sampler_drop_count(void)
{
    return self.drop_count;
}

void col_sampler_close(bool is_recording)
{
    uint64_t time_ns = col_clock_now();
    struct col_thread *thread;
    uint64_t lost_count = col_thread_lost_count(), unsafe_count = col_thread_unsafe_count();
    for (uint32_t next = 0; (thread = col_thread_each_closing(&next)) != NULL;)
        close_thread(thread, time_ns, is_recording);
    col_counter_group_close();
    col_exact_waits_close();
    __atomic_fetch_add(&self.drop_count, lost_count + unsafe_count, __ATOMIC_RELAXED);
    if (lost_count != 0)
        col_event_dropnotify((struct col_event_head){time_ns, 0},
                             &(struct col_event_dropnotify){.cause = COL_DROP_NO_MEMORY, .count = lost_count});
    if (unsafe_count != 0)
        col_event_dropnotify((struct col_event_head){time_ns, 0},
                             &(struct col_event_dropnotify){.cause = COL_DROP_UNSAFE_THREAD, .count = unsafe_count});
}
