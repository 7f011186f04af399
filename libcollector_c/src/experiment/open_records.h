/* open_records.h -- small records that come again and again, gathered for one frame of the log, safe from SIGKILL */
#ifndef COL_EXPERIMENT_OPEN_RECORDS_H
#define COL_EXPERIMENT_OPEN_RECORDS_H

#include "experiment/record.h"

/*
 * A slot at the end of the log (docs/format.md, Open frames) that holds records as a frame does. It moves into the log when it is full, or at the first record that comes
 * a second after its oldest. One at a time may be at work here: whoever adds has made sure of that. From anywhere, signal handlers included.
 */

/* 0, or -errno as col_log_writer_append: this record is lost, those before are kept and tried again. Without a slot the record goes into the log by itself. */
int col_open_records_add(const struct col_record *record);

/* Changes whenever a record does not lie in the same frame as the one before: what is put into a record may ask it, to refer to that one. */
uint32_t col_open_records_frame(void);

/* Moves what there is into the log. If that fails it stays where `collector record` and readers find it. */
int col_open_records_flush(void);

#endif
