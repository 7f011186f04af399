/* source_values.c -- what the samples of each source of a log stand for, as far as their values' units go */
#include "source_values.h"

#include "experiment/format.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 8 };

static struct col_source_slot *slot_of(const struct col_source_table *table, uint32_t source)
{
    size_t mask = table->slot_count - 1;
    size_t slot = (size_t)(source * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (table->slots[slot].is_used && table->slots[slot].source != source)
        slot = (slot + 1) & mask;
    return &table->slots[slot];
}

static bool reserve(struct col_source_table *table)
{
    if (2 * table->count < table->slot_count)
        return true;
    struct col_source_table larger = {.slot_count = table->slot_count ? 2 * table->slot_count : FIRST_SLOTS,
                                      .count = table->count};
    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < table->slot_count; i++)
        if (table->slots[i].is_used)
            *slot_of(&larger, table->slots[i].source) = table->slots[i];
    free(table->slots);
    *table = larger;
    return true;
}

static struct col_source_values declared(const struct pmclog_ev_allocate *allocate)
{
    struct col_source_values values = {0, COL_NO_VALUE, COL_NO_VALUE};
    for (uint32_t i = 0; i < allocate->pl_value_count && i < COL_SAMPLE_MAX_VALUES; i++) {
        const char *text = allocate->pl_values[i];
        const char *unit = text ? strchr(text, ' ') : NULL;
        if (!unit || strcmp(unit, " ns") != 0)
            continue;
        values.times |= UINT32_C(1) << i;
        if (values.user == COL_NO_VALUE && strcmp(text, "user ns") == 0)
            values.user = i;
        if (values.system == COL_NO_VALUE && strcmp(text, "system ns") == 0)
            values.system = i;
    }
    return values;
}

bool col_source_table_note(struct col_source_table *table, const struct pmclog_ev_allocate *allocate)
{
    if (allocate->pl_value_count == 0 || allocate->pl_pmcid == UINT32_MAX) /* that number is none */
        return true;
    if (!reserve(table))
        return false;
    struct col_source_slot *slot = slot_of(table, allocate->pl_pmcid);
    table->count += !slot->is_used;
    *slot = (struct col_source_slot){allocate->pl_pmcid, true, declared(allocate)};
    return true;
}

struct col_source_values col_source_table_find(const struct col_source_table *table, uint32_t source)
{
    const struct col_source_slot *slot = table->slot_count > 0 ? slot_of(table, source) : NULL;
    return slot && slot->is_used ? slot->values : (struct col_source_values){3, 0, 1};
}

void col_source_table_free(struct col_source_table *table)
{
    free(table->slots);
    *table = (struct col_source_table){0};
}
