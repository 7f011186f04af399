/* recording.h -- whether what happens now is recorded */
#ifndef COL_SAMPLE_RECORDING_H
#define COL_SAMPLE_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/recording_turns.h"

/* From anywhere, signal handlers included. */

enum col_recording col_recording_now(void);

/* True if it was `from` and is `to` now: of several who try, one. */
bool col_recording_change(enum col_recording from, enum col_recording to);
void col_recording_set(enum col_recording to);

/* The window of -t, in CLOCK_MONOTONIC. */
void col_recording_limit(uint64_t start_ns, uint64_t end_ns);

/* True while there is a log that events may go to, paused or not. */
bool col_recording_is_open(void);

/* True if event data of this moment is wanted: on, and inside the window. */
bool col_recording_is_on_at(uint64_t time_ns);

/* For so long it was between two moments, as far as the latest changes are known. */
uint64_t col_recording_between(uint64_t from_ns, uint64_t to_ns);

/* For entry/wait_watcher.c, which shows it to whoever watches from outside. */
extern struct col_recording_turns col_recording_own_turns;

#endif
