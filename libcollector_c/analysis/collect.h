/* collect.h -- which addresses of a log occur, as what, and the entries that they become */
#ifndef COL_ANALYSIS_COLLECT_H
#define COL_ANALYSIS_COLLECT_H

#include "reading_state.h"

/* False if memory is short. */
bool col_collect_begin(struct col_reading *reading);

/* The path of the walk is a stack that samples have. */
bool col_collect_visit(struct col_reading *reading, bool *is_empty);

int col_collect_finish(struct col_reading *reading);

#endif
