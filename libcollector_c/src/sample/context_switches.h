/* context_switches.h -- when threads gave the processor away, where the user asked for it */
#ifndef COL_SAMPLE_CONTEXT_SWITCHES_H
#define COL_SAMPLE_CONTEXT_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "target/thread.h"

/* All of this is signal-safe and for the thread itself, between enter and leave; but for close. */

/* The thread's switches are to be written, as PROCCSW of `source`. From the kernel's own records where it lets us have them; else counted at each drain. */
void col_context_switches_begin(struct col_thread *thread);

/* Writes what happened since the last call. `is_wanted`: event data of this moment is recorded; otherwise it is forgotten. */
void col_context_switches_drain(struct col_thread *thread, uint32_t source, uint32_t pid, bool is_wanted);

/* The thread ends, or the log does. Drains no more. */
void col_context_switches_end(struct col_thread *thread);

/* In a fork child the parent's records are not mapped. */
void col_context_switches_forget(struct col_thread *thread);

#endif
