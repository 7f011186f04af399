/* record.h -- one record of a sound frame as an event */
#ifndef COL_PMCLOG_RECORD_H
#define COL_PMCLOG_RECORD_H

#include "readings.h"
#include "samples.h"

/* What the texts of an event are copied to, with the zero byte that the log does not have. Zeroed memory is an empty one. */
struct col_record_texts {
    char *bytes;
    size_t capacity;
};

enum col_record_is {
    COL_RECORD_EVENT,
    COL_RECORD_SAMPLES,  /* taken by *samples */
    COL_RECORD_READINGS, /* taken by *readings: perhaps there are none */
    COL_RECORD_UNKNOWN,  /* of a kind this library does not know */
    COL_RECORD_BROKEN,   /* not what the format says */
    COL_RECORD_NEWER,    /* INITIALIZE of a major version that this library does not know */
    COL_RECORD_NO_MEMORY
};

/* Reads the record at *payload, which must not be at its end, and moves it past the record (past everything if its end cannot be known).
   The record's bytes must stay until all that was taken is handed out. For COL_RECORD_EVENT fills time, type, data and thread of *ev. */
enum col_record_is col_record_read(struct col_cursor *payload, struct col_record_texts *texts,
                                   struct col_samples *samples, struct col_readings *readings, struct pmclog_ev *ev);

void col_record_free(struct col_record_texts *texts);

#endif
