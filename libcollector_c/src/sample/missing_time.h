/* missing_time.h -- the time of ticks that did not come and that no later one explained */
#ifndef COL_SAMPLE_MISSING_TIME_H
#define COL_SAMPLE_MISSING_TIME_H

#include <stdint.h>

#include "target/thread.h"

/* All of this is signal-safe, and is for a thread that was entered. It waits in `thread->waiting_ns`. */

/* Takes so much of it and returns how much of that is system time: as far as the kernel accounts the thread any that no sample has. The rest is user time of a thread
 * whose ticks were withheld. */
uint64_t col_missing_time_take(struct col_thread *thread, uint64_t ns);

/* Where all but so much of it passed is not known any more, and no later stack need be the one: it is left to readers, who add it to the samples right before which
 * it was missing. */
void col_missing_time_leave_open(struct col_thread *thread, uint64_t kept_ns);

#endif
