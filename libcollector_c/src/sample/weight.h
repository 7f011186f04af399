/* weight.h -- how much CPU time a tick stands for, and whose: the thread's own code or the kernel */
#ifndef COL_SAMPLE_WEIGHT_H
#define COL_SAMPLE_WEIGHT_H

#include <stdint.h>
#include <ucontext.h>

#include "sample/clock_source.h"
#include "target/thread.h"

/* `missing_ns`: of ticks that did not come between the last one and this. That is not attributed yet, and may never be: then it probably passed about here. */
struct col_weight {
    uint64_t user_ns, system_ns, missing_ns;
};

/* All of this is signal-safe, and what takes a thread is for one that was entered. */

void col_weight_start(uint64_t period_ns);

/* From here on the calling thread's CPU time counts; `cpu_ns` on its clock, 0 if it has just begun. */
void col_weight_baseline(struct col_thread *thread, uint64_t cpu_ns, uint64_t time_ns);

/*
 * The CPU time to attribute to this tick; {0, 0}: drop it. Over a thread's life the weights add up to its CPU time, but for what is pending at its end: less than a
 * period, and missing ticks that nothing has explained yet.
 */
struct col_weight col_weight_take(struct col_thread *thread, enum col_tick kind, const ucontext_t *context,
                                  uint64_t time_ns);

/* A tick while recording is off: the time since the last one counts for nothing. What waited before belongs to ticks that were recorded, and is left to readers. */
void col_weight_skip(struct col_thread *thread, enum col_tick kind, const ucontext_t *context, uint64_t time_ns);

/*
 * The CPU time up to the last tick that could not be taken: of that no stack is known. `time_ns` is when it came. 0 if there was none since the last one that was
 * taken. To be asked before a tick is weighed, and at the thread's end.
 */
uint64_t col_weight_take_lost(struct col_thread *thread, uint64_t *time_ns);

#endif
