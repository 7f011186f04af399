/* thread_counters.h -- what is counted of a thread, read at its ticks where the user asked for it: page faults, context switches, perf events */
#ifndef COL_SAMPLE_THREAD_COUNTERS_H
#define COL_SAMPLE_THREAD_COUNTERS_H

#include <stdint.h>

#include "target/thread.h"

enum { COL_COUNT_FAULTS = 1, COL_COUNT_SWITCHES = 2 };

/* Says what is asked for, as bits, and as events of sample/counter_group.h; before the clock starts. From ordinary code. */
void col_thread_counters_start(unsigned asked, const char *events);

/* How many counters there are, and their names as sources declare them; values come in this order. Signal-safe. */
uint32_t col_thread_counters_count(void);
void col_thread_counters_declare(const char **names);

/* From anywhere, signal handlers included, between enter and leave of the calling thread. */

/* Counting begins: now, or with the thread's life. */
void col_thread_counters_begin(struct col_thread *thread, bool is_newborn);

/* Around a tick: what comes between, the recorder causes, not the program. */
void col_thread_counters_enter(struct col_thread *thread);
void col_thread_counters_leave(struct col_thread *thread);

/* The thread ends, or the log does. */
void col_thread_counters_end(struct col_thread *thread);

/* What was counted since it was last taken, or forgotten. */
void col_thread_counters_take(struct col_thread *thread, uint64_t *increments);
void col_thread_counters_forget(struct col_thread *thread);

#endif
