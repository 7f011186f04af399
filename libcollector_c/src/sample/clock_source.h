/* clock_source.h -- what makes threads tick: the ladder of clocks, and which rung this system allows */
#ifndef COL_SAMPLE_CLOCK_SOURCE_H
#define COL_SAMPLE_CLOCK_SOURCE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "target/thread.h"

/*
 * The rungs, best first:
 *   sigtrap     one inherited perf task-clock event per process, SIGTRAP in whichever thread it finds in user mode; every thread, however made
 *   task-clock  one perf task-clock event per thread, COL_CLOCK_SIGNAL by F_SETSIG; threads made by pthread_create or thrd_create
 *   cpu-timer   one POSIX CPU timer per thread, COL_CLOCK_SIGNAL; fires with the kernel's tick, 4 ms or so; the same threads
 * Beside the first two runs a slow CPU timer per thread, which finds system time.
 */
#define COL_CLOCK_EVENT_SIGNAL SIGTRAP
#define COL_CLOCK_SIGNAL SIGSTKFLT /* nothing sends it since the 387; the program may still use it, see entry/interpose_signal.c */

enum col_clock_kind { COL_CLOCK_AUTO, COL_CLOCK_SIGTRAP, COL_CLOCK_TASK, COL_CLOCK_TIMER, COL_CLOCK_OFF };

/* As users write it; a name that is none is AUTO. */
const char *col_clock_source_name(enum col_clock_kind kind);
enum col_clock_kind col_clock_source_named(const char *name, size_t length);

/* A process that we come from has found that this one ticks here: no need to wait for a tick again. Before start. */
void col_clock_source_trust(enum col_clock_kind kind);

/* Tries the rungs from `asked` (AUTO: from the top) down; returns the one that works, OFF if none. Writes into `detail` why others were passed over.
 * The calling thread ticks from here on. Handlers are in place (col_clock_handlers_install). */
enum col_clock_kind col_clock_source_start(enum col_clock_kind asked, uint64_t period_ns, struct col_thread *thread, char *detail, size_t detail_bytes);

/* The shortest period the rung delivers on this system. */
uint64_t col_clock_source_shortest_ns(enum col_clock_kind kind);

/* The clock that was chosen, also after it has stopped. Signal-safe. */
enum col_clock_kind col_clock_source_kind(void);

/* A thread begins or ends; in the thread itself. */
void col_clock_source_thread_begin(struct col_thread *thread);
void col_clock_source_thread_end(struct col_thread *thread);

/* Sets the pace of the thread's slow timer: fast is every kernel tick. Signal-safe. */
void col_clock_source_pace(struct col_thread *thread, bool is_fast);

/* The thread runs and does not tick: its event was closed. Gives it a new one. Signal-safe. */
void col_clock_source_revive(struct col_thread *thread);

/* No thread ticks from here on. Signal-safe. */
void col_clock_source_stop(void);

/* In a fork child: what we inherited is the parent's; lets go of it. */
void col_clock_source_forget(void);

/* The kind of tick a signal is, by what its siginfo says; -1 if it is not ours. */
int col_clock_source_tick_of(int signo, const siginfo_t *info);

#endif
