/* context_switches.h -- how often threads gave the processor away, where the user asked for it */
#ifndef COL_SAMPLE_CONTEXT_SWITCHES_H
#define COL_SAMPLE_CONTEXT_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "target/thread.h"

/* All of this is signal-safe, between enter and leave. */

/*
 * The thread's switches are to be written, as PROCCSW. The kernel counts them anyway, so that a switch costs nothing more; records of each of them, which it
 * would write into a buffer of the thread's, would make switches several times dearer beside the clock's event.
 */
void col_context_switches_begin(struct col_thread *thread);

/* Writes how many there were since the last call. `is_wanted`: event data of this moment is recorded; otherwise they are forgotten. */
void col_context_switches_drain(struct col_thread *thread, uint32_t source, uint32_t pid, bool is_wanted);

/* The thread ends, or the log does, or this is a fork child. */
void col_context_switches_end(struct col_thread *thread);

#endif
