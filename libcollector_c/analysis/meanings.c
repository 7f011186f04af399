/* meanings.c -- what an address means at a time, as the caller has told */
#include "meanings.h"

#include <errno.h>
#include <stdlib.h>

bool col_meanings_are_sound(const struct col_expansion *expansion, size_t *frame_count)
{
    *frame_count = 0;
    if (expansion->entry_count >= COL_ANALYSIS_NONE || expansion->first_meaning[0] != 0)
        return false;
    for (uint64_t entry = 0; entry < expansion->entry_count; entry++)
        if (expansion->first_meaning[entry + 1] <= expansion->first_meaning[entry])
            return false; /* each has at least one */
    if (!expansion->frames)
        return true;
    uint32_t meanings = expansion->first_meaning[expansion->entry_count];
    for (uint32_t meaning = 0; meaning < meanings; meaning++)
        if (expansion->first_frame[meaning + 1] < expansion->first_frame[meaning])
            return false;
    for (uint32_t i = 0; i < expansion->first_frame[meanings]; i++)
        if (expansion->frames[i] >= *frame_count)
            *frame_count = (size_t)expansion->frames[i] + 1;
    for (int end = 0; end < COL_CELLS_ENDS; end++)
        if (expansion->empty_frames[end] != COL_ANALYSIS_NONE && expansion->empty_frames[end] >= *frame_count)
            *frame_count = (size_t)expansion->empty_frames[end] + 1;
    return true;
}

uint32_t col_meanings_entry(const struct col_reading *reading, uint32_t number, bool is_leaf)
{
    const struct col_log *log = reading->log;
    uint32_t entry = COL_ANALYSIS_NONE;
    if (number < log->entry_numbers)
        entry = is_leaf ? log->leaf_entries[number] : log->caller_entries[number];
    return entry < reading->expansion.entry_count ? entry : COL_ANALYSIS_NONE;
}

static size_t turn_count(const struct col_expansion *expansion, uint32_t entry)
{
    return expansion->first_meaning[entry + 1] - expansion->first_meaning[entry] - 1;
}

static const uint64_t *turns_of(const struct col_expansion *expansion, uint32_t entry)
{
    return expansion->times + (expansion->first_meaning[entry] - entry);
}

/* How many of the turns are not after a moment. */
static size_t turns_until(const uint64_t *turns, size_t count, uint64_t time_ns)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (turns[middle] <= time_ns)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

uint32_t col_meanings_at(const struct col_expansion *expansion, uint32_t entry, uint64_t time_ns)
{
    size_t count = turn_count(expansion, entry);
    return expansion->first_meaning[entry] +
           (uint32_t)(count ? turns_until(turns_of(expansion, entry), count, time_ns) : 0);
}

bool col_meanings_change(const struct col_reading *reading, const struct col_log *log)
{
    const struct col_expansion *expansion = &reading->expansion;
    for (size_t number = 0; number < log->entry_numbers; number++) {
        uint32_t caller = log->caller_entries[number], leaf = log->leaf_entries[number];
        if ((caller < expansion->entry_count && turn_count(expansion, caller) > 0) ||
            (leaf < expansion->entry_count && turn_count(expansion, leaf) > 0))
            return true;
    }
    return false;
}

static bool add_turns(struct col_reading *reading, uint32_t entry, uint64_t start_ns, uint64_t end_ns)
{
    const struct col_expansion *expansion = &reading->expansion;
    size_t count = entry == COL_ANALYSIS_NONE ? 0 : turn_count(expansion, entry);
    const uint64_t *turns = count ? turns_of(expansion, entry) : NULL;
    for (size_t i = count ? turns_until(turns, count, start_ns) : 0; i < count && turns[i] <= end_ns; i++) {
        if (!COL_ARRAY_RESERVE(reading->turns, reading->turn_capacity, reading->turn_count + 1))
            return false;
        reading->turns[reading->turn_count++] = turns[i];
    }
    return true;
}

static bool add_turns_of_address(struct col_reading *reading, uint32_t number, uint64_t start_ns, uint64_t end_ns)
{
    uint32_t epoch = reading->log->addresses.epoch;
    if (!COL_ARRAY_RESERVE(reading->seen, reading->seen_capacity, (size_t)number + 1))
        return false;
    if (reading->seen[number] == epoch)
        return true;
    reading->seen[number] = epoch;
    return add_turns(reading, col_meanings_entry(reading, number, false), start_ns, end_ns) &&
           add_turns(reading, col_meanings_entry(reading, number, true), start_ns, end_ns);
}

static int compare_times(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void sort_turns(struct col_reading *reading)
{
    size_t kept = 0;
    if (reading->turn_count > 1)
        qsort(reading->turns, reading->turn_count, sizeof *reading->turns, compare_times);
    for (size_t i = 0; i < reading->turn_count; i++)
        if (kept == 0 || reading->turns[kept - 1] != reading->turns[i])
            reading->turns[kept++] = reading->turns[i];
    reading->turn_count = kept;
}

int col_meanings_find_turns(struct col_reading *reading, const struct col_sample_record *record, uint64_t end_ns)
{
    struct col_walk *walk = &reading->walk;
    struct col_addresses *table = &reading->log->addresses;
    reading->turn_count = 0;
    if (!col_walk_begin(walk, table, record->fields.definitions.bytes, record->fields.definitions.count))
        return -ENOMEM;
    for (uint64_t stack = 0; stack < record->fields.stack_count && col_walk_next(walk); stack++)
        for (uint32_t i = walk->kept; i < walk->depth; i++)
            if (!add_turns_of_address(reading, walk->path[i], record->time_ns, end_ns))
                return -ENOMEM;
    if (walk->is_out_of_memory)
        return -ENOMEM;
    sort_turns(reading);
    return 0;
}

static uint32_t group_of(const struct col_reading *reading, uint32_t number, bool is_leaf)
{
    const struct col_expansion *expansion = &reading->expansion;
    uint32_t entry = col_meanings_entry(reading, number, is_leaf);
    if (entry == COL_ANALYSIS_NONE || turn_count(expansion, entry) > 0 || reading->question.demands)
        return COL_ANALYSIS_NONE;
    uint32_t meaning = expansion->first_meaning[entry];
    uint32_t first = expansion->first_frame[meaning];
    bool is_one = expansion->first_frame[meaning + 1] - first == 1;
    return is_one ? reading->question.groups[expansion->frames[first]] : COL_ANALYSIS_NONE;
}

bool col_meanings_fill_groups(struct col_reading *reading)
{
    size_t count = reading->log->entry_numbers;
    if (!COL_ARRAY_RESERVE(reading->caller_groups, reading->caller_capacity, count) ||
        !COL_ARRAY_RESERVE(reading->leaf_groups, reading->leaf_capacity, count))
        return false;
    for (uint32_t number = 0; number < count; number++) {
        reading->caller_groups[number] = group_of(reading, number, false);
        reading->leaf_groups[number] = group_of(reading, number, true);
    }
    return true;
}
