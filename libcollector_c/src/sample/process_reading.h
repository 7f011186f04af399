/* process_reading.h -- what the process has used so far */
#ifndef COL_SAMPLE_PROCESS_READING_H
#define COL_SAMPLE_PROCESS_READING_H

#include "experiment/event.h"

/* Fills the readings of a SAMPLE event for the calling process. Signal-safe. Readings the system refuses stay unknown. */
void col_process_reading_take(struct col_event_sample *sample);

#endif
