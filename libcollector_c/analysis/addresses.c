/* addresses.c -- the addresses of one log by number: a hash table with open addressing */
#include "addresses.h"

#include "seam.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 128 };

static size_t slot_of(const struct col_addresses *table, uint64_t address)
{
    size_t mask = table->slot_count - 1;
    size_t slot = (size_t)(address * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (table->slots[slot] != 0 && table->addresses[table->slots[slot]] != address)
        slot = (slot + 1) & mask;
    return slot;
}

static bool double_slots(struct col_addresses *table)
{
    size_t count = table->slot_count ? 2 * table->slot_count : FIRST_SLOTS;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(table->slots);
    table->slots = slots;
    table->slot_count = count;
    for (size_t number = 1; number < table->count; number++)
        slots[slot_of(table, table->addresses[number])] = (uint32_t)number;
    return true;
}

bool col_addresses_begin_record(struct col_addresses *table)
{
    if (table->count == 0) {
        if (!COL_ARRAY_RESERVE(table->addresses, table->address_capacity, 1) ||
            !COL_ARRAY_RESERVE(table->children, table->child_capacity, 1) || !double_slots(table))
            return false;
        table->count = 1;
    }
    if (++table->epoch == 0) {
        memset(table->children, 0, table->child_capacity * sizeof *table->children);
        table->epoch = 1;
    }
    return true;
}

uint32_t col_addresses_number(struct col_addresses *table, uint64_t address)
{
    if (address == 0)
        return 0;
    size_t slot = slot_of(table, address);
    if (table->slots[slot] != 0)
        return table->slots[slot];
    size_t number = table->count;
    if (number >= COL_ANALYSIS_NONE || !COL_ARRAY_RESERVE(table->addresses, table->address_capacity, number + 1) ||
        !COL_ARRAY_RESERVE(table->children, table->child_capacity, number + 1))
        return COL_ANALYSIS_NONE;
    table->addresses[number] = address;
    table->slots[slot] = (uint32_t)number;
    table->count++;
    return 2 * table->count <= table->slot_count || double_slots(table) ? (uint32_t)number : COL_ANALYSIS_NONE;
}

void col_addresses_free(struct col_addresses *table)
{
    free(table->addresses);
    free(table->children);
    free(table->slots);
    *table = (struct col_addresses){0};
}
