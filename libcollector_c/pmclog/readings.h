/* readings.h -- one METRIC record of several sources, handed out value by value */
#ifndef COL_PMCLOG_READINGS_H
#define COL_PMCLOG_READINGS_H

#include "cursor.h"
#include "pmclog.h"

#include "experiment/format.h"

#include <stdbool.h>

/* A value as a METRIC event has it. */
struct col_reading {
    uint64_t whole;
    double real;
    bool is_there, is_real;
};

struct col_readings {
    struct pmclog_ev event; /* what all of them have in common, and the first source */
    struct col_reading values[COL_METRIC_MAX_VALUES];
    uint32_t count, next;
    bool is_taken;   /* the last record was one of several sources */
    bool has_before; /* `values` are those of a record of this frame, whose first source is before_source */
    uint32_t before_source;
};

/* Nothing refers to what came before: a frame begins, or a record was broken. */
void col_readings_forget(struct col_readings *readings);

/* Takes an array of `count` values at *record, of `source` and those after it, and moves *record past it. False if they are not what the format says. */
bool col_readings_begin(struct col_readings *readings, struct col_cursor *record, uint32_t source, uint32_t count);

/* False: nothing is left. Else fills everything of *ev but pl_count. */
bool col_readings_next(struct col_readings *readings, struct pmclog_ev *ev);

/* One value as a member of a METRIC event: an integer, a real number, or nil, which is none. */
bool col_readings_read_value(struct col_cursor *record, struct pmclog_ev_metric *metric);

#endif
