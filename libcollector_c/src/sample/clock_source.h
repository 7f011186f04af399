/* clock_source.h -- what makes threads tick: the ladder of clocks, and which rung this system allows */
#ifndef COL_SAMPLE_CLOCK_SOURCE_H
#define COL_SAMPLE_CLOCK_SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "sample/clock_event.h"
#include "target/thread.h"

/*
 * The rungs, best first:
 *   sigtrap     one inherited perf task-clock event per process, SIGTRAP in whichever thread it finds in user mode; every thread, however made
 *   task-clock  one perf task-clock event per thread, COL_CLOCK_SIGNAL by F_SETSIG; threads made by pthread_create or thrd_create
 *   cpu-timer   one POSIX CPU timer per thread, COL_CLOCK_SIGNAL; fires with the kernel's tick, 4 ms or so; the same threads
 * Beside the first two runs a slow CPU timer per thread, which finds system time.
 */
enum col_clock_kind { COL_CLOCK_AUTO, COL_CLOCK_SIGTRAP, COL_CLOCK_TASK, COL_CLOCK_TIMER, COL_CLOCK_OFF };

enum {
    COL_CLOCK_VALUES = 3
}; /* of each sample: user and system CPU time, and that of ticks missing before it; behind them those of sample/thread_counters.h */

/* As users write it; a name that is none is AUTO. */
const char *col_clock_source_name(enum col_clock_kind kind);
enum col_clock_kind col_clock_source_named(const char *name, size_t length);

/*
 * Tries the rungs from `asked` (AUTO: from the top) down and starts the first that the kernel grants; OFF if none. Writes PMCALLOCATE for `source`, with the
 * reasons why others were passed over. The calling thread ticks from here on; handlers are in place (col_signals_install).
 */
enum col_clock_kind col_clock_source_start(enum col_clock_kind asked, uint32_t source, uint64_t period_ns,
                                           struct col_thread *thread);

/* The shortest period the rung delivers on this system. */
uint64_t col_clock_source_shortest_ns(enum col_clock_kind kind);

/* The clock that was chosen, also after it has stopped. Signal-safe. */
enum col_clock_kind col_clock_source_kind(void);

/* A thread begins or ends; in the thread itself. */
void col_clock_source_thread_begin(struct col_thread *thread);
void col_clock_source_thread_end(struct col_thread *thread);

/* From here on the thread ticks after so many page faults, if the kernel can do it (COL_TICK_FAULTS). In the thread itself. Signal-safe. */
void col_clock_source_count_faults(struct col_thread *thread);

#define COL_SLOW_PERIOD_NS 20000000u /* of the slow timer, in CPU time of its thread, where it is not fast */

/* Sets the pace of the thread's slow timer: fast is every kernel tick. Signal-safe. */
void col_clock_source_pace(struct col_thread *thread, bool is_fast);

/*
 * The event is closed, as long as it would cost too much: the slow timer is the clock then, from the next tick of each thread on. Opened again each thread gets an event of its
 * own, when it next ticks (col_clock_source_follow). Where the launcher holds the event it is closed 10 ms later. stop: false if it was stopped before, or all clocks are. Signal-safe.
 */
bool col_clock_source_stop_event(void);
void col_clock_source_restart_event(void);
bool col_clock_source_is_event_stopped(void);

/* Whether there is one that ticks for this thread: else it has only the timer, now or always. Signal-safe. */
bool col_clock_source_has_event(const struct col_thread *thread);

/* Has the thread tick by an event that comes seldom beside the timer, or no more (COL_TICK_BACKUP). In the thread itself. Signal-safe. */
void col_clock_source_back_up(struct col_thread *thread, bool is_on);

/* The thread runs and does not tick: its event was closed, and it is given a new one. If the clock has never ticked here, the next rung takes over. Signal-safe. */
void col_clock_source_revive(struct col_thread *thread);

/* Another rung may have taken over since the thread was armed, or its event be wanted again: arms it anew. In the thread itself. Signal-safe. */
void col_clock_source_follow(struct col_thread *thread);

/* The program is about to end or to be replaced, which ends the ticks too: until then they may go on. Signal-safe. */
void col_clock_source_end(void);

/*
 * The program goes on, and no thread ticks from here on, once its timers are deleted (thread_end). Events that the launcher holds are switched off by the
 * launcher, which takes 10 ms at most unless it is starved. If it does not answer in 100 ms, false: it is stopped or starved, events go on ticking until it has read the request, and the
 * handler does nothing at a tick once the session is closed. Signal-safe.
 */
bool col_clock_source_stop(void);

/* No thread ticks until they are resumed, but for ticks that are under way. Threads that begin meanwhile are armed then. Signal-safe. */
void col_clock_source_suspend(int patience_ms);
void col_clock_source_resume(void);

/* In a fork child: what we inherited is the parent's; lets go of it. */
void col_clock_source_forget(void);

/* What the clock that ticked can know. */
enum col_tick {
    COL_TICK_USER, /* a perf event that fires only while the thread runs its own code: what it missed was system time, or withheld by the machine */
    COL_TICK_FAULTS, /* the thread has met some more page faults: where system time went that is in no system call */
    COL_TICK_SLOW,   /* the slow CPU timer beside such an event: finds out where system time went */
    COL_TICK_TIMER,  /* a CPU timer alone: stands for all CPU time since the last one */
    COL_TICK_BACKUP, /* a perf event that ticks seldom, where the one that ticks often is closed: for threads that the kernel's tick does not find */
    COL_TICK_SWITCH, /* the thread was away from its processor (sample/exact_waits.h): stands for no CPU time, as the next ones */
    COL_TICK_OVERFLOW /* and more, by the number of the event of sample/overflow.h: stands for no CPU time */
};

/* The kind of tick a signal is, by what its siginfo says; -1 if it is not ours. */
int col_clock_source_tick_of(int signo, const siginfo_t *info);

#endif
