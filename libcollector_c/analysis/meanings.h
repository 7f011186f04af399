/* meanings.h -- what an address means at a time, as the caller has told */
#ifndef COL_ANALYSIS_MEANINGS_H
#define COL_ANALYSIS_MEANINGS_H

#include "reading_state.h"

/* Whether the buffers of an expansion agree with each other; *frame_count becomes one more than its highest frame. */
bool col_meanings_are_sound(const struct col_expansion *expansion, size_t *frame_count);

/* The entry of an address; NONE if it has none. */
uint32_t col_meanings_entry(const struct col_reading *reading, uint32_t number, bool is_leaf);

/* The meaning of an entry at a time. */
uint32_t col_meanings_at(const struct col_expansion *expansion, uint32_t entry, uint64_t time_ns);

/* Whether any address of the log means one thing at one time and another at another. */
bool col_meanings_change(const struct col_reading *reading, const struct col_log *log);

/* Fills `turns` with the moments, rising, between start_ns and end_ns at which an address that the record puts on a
   stack changes its meaning. */
int col_meanings_find_turns(struct col_reading *reading, const struct col_sample_record *record, uint64_t end_ns);

/* Fills the groups by address, for the log that is read. False if memory is short. */
bool col_meanings_fill_groups(struct col_reading *reading);

#endif
