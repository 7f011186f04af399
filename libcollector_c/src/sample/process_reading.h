/* process_reading.h -- what the process has used so far */
#ifndef COL_SAMPLE_PROCESS_READING_H
#define COL_SAMPLE_PROCESS_READING_H

#include "experiment/event.h"

/* Fills the readings of a SAMPLE event for the calling process. Signal-safe. Readings the system refuses stay unknown. */
void col_process_reading_take(struct col_event_sample *sample);

/* The same for an image that has just begun, but for its memory: that is what every program has of libraries, and not worth a file's price. */
void col_process_reading_take_new_image(struct col_event_sample *sample);

/* The same for a process just forked, without a look at files: it has read and written nothing, and how much memory is its own is not worth a file's price. */
void col_process_reading_take_newborn(struct col_event_sample *sample);

#endif
