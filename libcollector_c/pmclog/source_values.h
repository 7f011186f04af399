/* source_values.h -- what the samples of each source of a log stand for, as far as their values' units go */
#ifndef COL_PMCLOG_SOURCE_VALUES_H
#define COL_PMCLOG_SOURCE_VALUES_H

#include "pmclog.h"

#include <stdbool.h>

/* Of one source: which of its values are times, as bits, and which are user and system CPU time (COL_NO_VALUE: none). */
struct col_source_values {
    uint32_t times;
    uint32_t user;
    uint32_t system;
};

enum { COL_NO_VALUE = 32 };

/* Zeroed memory is a log without sources: an open hash table by the source's id. */
struct col_source_table {
    struct col_source_slot {
        uint32_t source;
        bool is_used;
        struct col_source_values values;
    } * slots;
    size_t slot_count; /* 0 or a power of two */
    size_t count;
};

/* Takes what PMCALLOCATE declares, in place of what was known of the source. False if memory is short. */
bool col_source_table_note(struct col_source_table *table, const struct pmclog_ev_allocate *allocate);

/* The values of a source; those of a clock, if its definition is lost. */
struct col_source_values col_source_table_find(const struct col_source_table *table, uint32_t source);

void col_source_table_free(struct col_source_table *table);

#endif
