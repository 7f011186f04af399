/* counter_group.h -- perf events of a thread that are read together at its ticks, where the user asked for them */
#ifndef COL_SAMPLE_COUNTER_GROUP_H
#define COL_SAMPLE_COUNTER_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "target/thread.h"

/*
 * A group for each thread: the processor counts all of it or nothing, so that its figures can be divided by each other. Where the processor has not counters enough
 * for all who want one, groups take turns; what one counted is scaled to the time in which it was to count. Such a group cannot be inherited and read by thread, and only
 * a descriptor reads it: its first event has one in the program's table, the others are held by the launcher.
 */

/* What `events` ask for, up to a comma or the end, in the form of sample/clock_event.h; NULL: nothing. Groups are not opened yet. From ordinary code. */
void col_counter_group_start(const char *events);

/* From now on they are: the clock has been started. */
void col_counter_group_allow(void);

/* All of what follows is signal-safe. */

uint32_t col_counter_group_count(void);
const char *col_counter_group_name(uint32_t event);

/* Between enter and leave of the calling thread. Counting begins, or begins anew. */
void col_counter_group_begin(struct col_thread *thread);

/* Around a tick: adds what was counted since the last one to `pending`, and leaves out what the recorder causes in between. */
void col_counter_group_enter(struct col_thread *thread, uint64_t *pending);
void col_counter_group_leave(struct col_thread *thread);

/* The thread ends, or the log does. */
void col_counter_group_end(struct col_thread *thread);

/* Tells the log how much of the time the groups counted, if it was not all of it. Before the log is closed. */
void col_counter_group_close(void);

#endif
