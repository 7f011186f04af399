/* reading.h -- the samples of one log, thread by thread, record by record, stack by stack */
#ifndef COL_ANALYSIS_READING_H
#define COL_ANALYSIS_READING_H

#include "reading_state.h"

bool col_reading_begin(struct col_reading *reading);

/* 0 or -errno; -EIO if the file is not what was scanned. */
int col_reading_log(struct col_reading *reading, struct col_log *log, int fd, enum col_purpose purpose);

void col_reading_free(struct col_reading *reading);

#endif
