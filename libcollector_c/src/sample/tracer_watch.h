/* tracer_watch.h -- a debugger or tracer is shown every signal: while there is one, nothing ticks */
#ifndef COL_SAMPLE_TRACER_WATCH_H
#define COL_SAMPLE_TRACER_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/weight.h"
#include "target/thread.h"

/* All of this is signal-safe. */

/* The clock starts, in a process that is not traced. */
void col_tracer_watch_start(void);

/* A slow tick came: looks for a tracer, but not often. It may be there because the launcher has switched off the event: before that is taken for dead. */
void col_tracer_watch_look(enum col_tick kind, uint64_t time_ns);

/*
 * A tick came and was weighed. Looks for a tracer when the thread has lost wall time since its last tick, as it does when a tracer is shown
 * the signal, but not often. When one is found all clocks are suspended and recording is paused; a tick that comes nevertheless looks again, and both go on
 * when the tracer has gone. True: this tick stands for time that is not to be recorded.
 */
bool col_tracer_watch_tick(struct col_thread *thread, uint64_t time_ns);

/*
 * The process has itself traced (PTRACE_TRACEME): surrender before it asks the kernel, and surrendered with what the kernel has said. A tick that comes
 * in between finds no tracer, and changes nothing. False: nothing was suspended, and there is no answer to give.
 */
bool col_tracer_watch_surrender(void);
void col_tracer_watch_surrendered(bool is_traced);

#endif
