/* collect.c -- which addresses of a log occur, as what, and the entries that they become */
#include "collect.h"

#include <errno.h>
#include <string.h>

enum { IS_CALLER = 1, IS_LEAF = 2, CALLER_KNOWN = 4, CALLER_HIDDEN = 8, LEAF_KNOWN = 16, LEAF_HIDDEN = 32 };

bool col_collect_begin(struct col_reading *reading)
{
    if (reading->flag_capacity > 0)
        memset(reading->flags, 0, reading->flag_capacity);
    return true;
}

static uint64_t looked_up(uint64_t address, bool is_leaf)
{
    return is_leaf || address == 0 ? address : address - 1; /* a return address: the call is before it */
}

static bool is_hidden(struct col_reading *reading, uint32_t number, bool is_leaf)
{
    uint8_t known = is_leaf ? LEAF_KNOWN : CALLER_KNOWN, hidden = is_leaf ? LEAF_HIDDEN : CALLER_HIDDEN;
    uint8_t *flags = &reading->flags[number];
    if (!(*flags & known)) {
        uint64_t address = looked_up(reading->log->addresses.addresses[number], is_leaf);
        const struct col_segment *segment = col_log_segment_of(reading->log, address);
        *flags |= known | (segment && segment->is_hidden ? hidden : 0);
    }
    return (*flags & hidden) != 0;
}

static bool has_visible_frame(struct col_reading *reading)
{
    const struct col_walk *walk = &reading->walk;
    for (uint32_t i = 0; i < walk->depth; i++)
        if (!is_hidden(reading, walk->path[i], i + 1 == walk->depth))
            return true;
    return false;
}

bool col_collect_visit(struct col_reading *reading, bool *is_empty)
{
    const struct col_walk *walk = &reading->walk;
    if (!COL_ARRAY_RESERVE(reading->flags, reading->flag_capacity, reading->log->addresses.count))
        return false;
    uint32_t callers = walk->depth > 0 ? walk->depth - 1 : 0;
    for (uint32_t i = reading->synced; i < callers; i++)
        reading->flags[walk->path[i]] |= IS_CALLER;
    if (walk->depth > 0)
        reading->flags[walk->path[callers]] |= IS_LEAF;
    reading->synced = callers;
    *is_empty = !has_visible_frame(reading);
    return true;
}

static uint32_t entry_of(struct col_reading *reading, uint32_t number, bool is_leaf)
{
    const struct col_log *log = reading->log;
    uint64_t address = log->addresses.addresses[number];
    const struct col_segment *segment = col_log_segment_of(log, looked_up(address, is_leaf));
    struct col_entry entry = {address, log->own_space, is_leaf};
    if (segment) {
        entry.address = address - segment->bias;
        entry.space = segment->space;
    }
    return col_entries_number(&reading->entries, entry);
}

int col_collect_finish(struct col_reading *reading)
{
    struct col_log *log = reading->log;
    size_t callers = log->entry_numbers, leaves = log->entry_numbers;
    size_t count = log->addresses.count;
    if (!COL_ARRAY_RESERVE(log->caller_entries, callers, count) ||
        !COL_ARRAY_RESERVE(log->leaf_entries, leaves, count) ||
        !COL_ARRAY_RESERVE(reading->flags, reading->flag_capacity, count))
        return -ENOMEM;
    for (uint32_t number = 0; number < count; number++) {
        uint8_t flags = reading->flags[number];
        log->caller_entries[number] = log->leaf_entries[number] = COL_ANALYSIS_NONE;
        if ((flags & IS_CALLER) && !is_hidden(reading, number, false) &&
            (log->caller_entries[number] = entry_of(reading, number, false)) == COL_ANALYSIS_NONE)
            return -ENOMEM;
        if ((flags & IS_LEAF) && !is_hidden(reading, number, true) &&
            (log->leaf_entries[number] = entry_of(reading, number, true)) == COL_ANALYSIS_NONE)
            return -ENOMEM;
    }
    log->entry_numbers = count;
    return 0;
}
