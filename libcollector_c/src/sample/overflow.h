/* overflow.h -- events that are sampled whenever they have happened so many times, beside the clock */
#ifndef COL_SAMPLE_OVERFLOW_H
#define COL_SAMPLE_OVERFLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "target/thread.h"

/*
 * Each is a perf event like that of the clock's first rung: inherited by all threads, a SIGTRAP in the thread that counted. Each is a source of its own, whose
 * samples stand for as many events as its period, and has an open frame of its own in each thread.
 */

/* Opens what `events` ask for, up to a comma or the end: type.config.period.name, joined by plus signs; NULL: nothing. What cannot be had is told in the log:
   all of it unless `is_possible`, for it takes what the clock's first rung takes. From ordinary code. */
void col_overflow_start(const char *events, uint32_t pid, bool is_possible);

/* From anywhere, signal handlers included. */

/* Which event a signal with this datum is of; -1: of none. */
int col_overflow_event_of(uint64_t data);

/* Adds a sample of the event with the thread's stack; between enter and leave. 0, or as col_open_frame_add. */
int col_overflow_add(struct col_thread *thread, unsigned event, uint64_t time_ns, const struct col_thread_stack *stack);

/* Those of this process; the launcher's are switched with the clock's. */
void col_overflow_switch(bool is_on);

#endif
