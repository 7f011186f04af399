/* missing_time.h -- the time of ticks that did not come and that no later one explained */
#ifndef COL_SAMPLE_MISSING_TIME_H
#define COL_SAMPLE_MISSING_TIME_H

#include <stdint.h>

#include "sample/weight.h"
#include "target/thread.h"

/* All of this is signal-safe, and is for a thread that was entered. It waits in `thread->waiting_ns`. */

/* So much of it is system time as far as the kernel accounts the thread any that no sample has, else user time of a thread whose ticks were withheld. */
struct col_weight col_missing_time_take(struct col_thread *thread, uint64_t ns);

/* Where all but so much of it passed is not known any more, and the present stack need not be the one: it is spread over the next ticks, and what is left at the
 * thread's end over all of its samples. */
void col_missing_time_put_off(struct col_thread *thread, uint64_t kept_ns);

/* Gives a tick so much of what was put off, at most. */
void col_missing_time_add_late(struct col_thread *thread, struct col_weight *weight, uint64_t most_ns);

#endif
