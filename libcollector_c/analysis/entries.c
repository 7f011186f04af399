/* entries.c -- the distinct addresses of all logs: a hash table with open addressing */
#include "entries.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024 };

static size_t slot_of(const struct col_entries *entries, struct col_entry entry)
{
    size_t mask = entries->slot_count - 1;
    uint64_t key = (entry.address << 1 | entry.is_leaf) ^ (uint64_t)entry.space << 48;
    size_t slot = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    for (; entries->slots[slot] != 0; slot = (slot + 1) & mask) {
        const struct col_entry *other = &entries->entries[entries->slots[slot] - 1];
        if (other->address == entry.address && other->space == entry.space && other->is_leaf == entry.is_leaf)
            break;
    }
    return slot;
}

static bool double_slots(struct col_entries *entries)
{
    size_t count = entries->slot_count ? 2 * entries->slot_count : FIRST_SLOTS;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(entries->slots);
    entries->slots = slots;
    entries->slot_count = count;
    for (size_t number = 0; number < entries->count; number++)
        slots[slot_of(entries, entries->entries[number])] = (uint32_t)number + 1;
    return true;
}

uint32_t col_entries_number(struct col_entries *entries, struct col_entry entry)
{
    if (2 * (entries->count + 1) > entries->slot_count && !double_slots(entries))
        return COL_ANALYSIS_NONE;
    size_t slot = slot_of(entries, entry);
    if (entries->slots[slot] != 0)
        return entries->slots[slot] - 1;
    if (entries->count >= COL_ANALYSIS_NONE - 1 ||
        !COL_ARRAY_RESERVE(entries->entries, entries->capacity, entries->count + 1))
        return COL_ANALYSIS_NONE;
    entries->entries[entries->count] = entry;
    entries->slots[slot] = (uint32_t)++entries->count;
    return (uint32_t)entries->count - 1;
}

void col_entries_free(struct col_entries *entries)
{
    free(entries->entries);
    free(entries->slots);
}
