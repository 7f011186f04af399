/* tick_rest.h -- rests for a thread whose ticks take as long as they are apart */
#ifndef COL_SAMPLE_TICK_REST_H
#define COL_SAMPLE_TICK_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/weight.h"
#include "target/thread.h"

/*
 * The time of a tick counts for its thread, as that of a signal handler does. Where a stack takes as long to walk as ticks are apart (thousands of frames of code without
 * tables, or those of Python at a period of 50 us), the thread would do nothing else: it is let alone for a while, and the time of these ticks goes to the next stack that is walked.
 *
 * All of this is signal-safe, and what takes a thread is for one that was entered.
 */

void col_tick_rest_start(uint64_t period_ns);

/* True if the thread is to be let alone: the weight is held back. Else that is added which was. */
bool col_tick_rest_holds(struct col_thread *thread, struct col_weight *weight);

/* The tick that began at that time of the thread's clock has walked its stack. */
void col_tick_rest_judge(struct col_thread *thread, uint64_t begin_ns);

/* Recording is off: no stack is going to be walked soon. What is held back is left to readers, who spread it over the thread's samples. */
void col_tick_rest_end(struct col_thread *thread);

#endif
