/* symbols.c -- which entries of symbol tables are functions, and what they are called */
#include "symbols.h"

#include "sort.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdlib.h>

enum {
    SYMBOL_BYTES = 24,
    STT_NOTYPE = 0,
    STT_FUNC = 2,
    STT_GNU_IFUNC = 10,
    STB_LOCAL = 0,
    SHN_LORESERVE = 0xff00,
    SHN_XINDEX = 0xffff,
};

/* An entry that may become a function, or one of its names. */
struct candidate {
    uint64_t size;
    struct col_symbol_name name; /* without its version */
    uint32_t name_bytes;         /* with it */
    uint32_t table;
    uint32_t underscores, characters;
    uint8_t is_label;
    uint8_t is_local;
};

struct reading {
    struct col_symbol_table *tables;
    struct candidate *candidates;
    struct col_keyed *places; /* addresses, with the numbers of candidates */
    size_t count, capacity, place_capacity;
    const struct candidate **ranks; /* those of one address, the best first */
    size_t rank_capacity;
    struct col_symbols *symbols;
};

static bool charge(struct col_symbol_table *table, uint64_t bytes)
{
    if (bytes > table->room)
        return false;
    table->room -= bytes;
    return true;
}

static int add_candidate(struct reading *reading, uint32_t table, uint64_t address, uint32_t name_offset,
                         struct candidate candidate)
{
    struct col_symbol_name name = col_symbol_name_at(reading->tables[table].strings, name_offset);
    candidate.table = table;
    candidate.name_bytes = name.bytes;
    candidate.name = col_symbol_name_without_version(name);
    candidate.underscores = col_symbol_name_underscores(candidate.name);
    if (!charge(&reading->tables[table], name.bytes) ||
        !col_symbol_name_characters(candidate.name, &candidate.characters))
        return -ENOTSUP;
    if (!COL_ARRAY_RESERVE(reading->candidates, reading->capacity, reading->count + 1) ||
        !COL_ARRAY_RESERVE(reading->places, reading->place_capacity, reading->count + 1))
        return -ENOMEM;
    reading->candidates[reading->count] = candidate;
    reading->places[reading->count] = (struct col_keyed){address, reading->count};
    reading->count++;
    return 0;
}

static int collect(struct reading *reading, uint32_t table)
{
    struct col_dwarf_cursor cursor = col_dwarf_at(reading->tables[table].entries, 0);
    int status = 0;
    while (status == 0 && cursor.end - cursor.at >= SYMBOL_BYTES) {
        uint32_t name = (uint32_t)col_dwarf_fixed(&cursor, 4);
        unsigned info = (unsigned)col_dwarf_fixed(&cursor, 1), kind = info & 15;
        col_dwarf_skip(&cursor, 1);
        unsigned section = (unsigned)col_dwarf_fixed(&cursor, 2);
        uint64_t address = col_dwarf_fixed(&cursor, 8);
        struct candidate candidate = {
            .size = col_dwarf_fixed(&cursor, 8), .is_label = kind == STT_NOTYPE, .is_local = info >> 4 == STB_LOCAL};
        if (kind != STT_FUNC && kind != STT_GNU_IFUNC && kind != STT_NOTYPE)
            continue;
        if (section == 0 || address == 0 || name == 0 || (section >= SHN_LORESERVE && section != SHN_XINDEX))
            continue;
        status = add_candidate(reading, table, address, name, candidate);
    }
    return status;
}

static int compare_numbers(uint64_t first, uint64_t second)
{
    return (first > second) - (first < second);
}

static int compare_ranks(const void *left, const void *right)
{
    const struct candidate *first = *(const struct candidate *const *)left,
                           *second = *(const struct candidate *const *)right;
    int order = compare_numbers(first->is_local, second->is_local);
    if (order == 0 && first->is_local)
        order = compare_numbers(first->size == 0, second->size == 0);
    if (order == 0)
        order = compare_numbers(first->underscores, second->underscores);
    if (order == 0)
        order = compare_numbers(first->characters, second->characters);
    uint32_t bytes = first->name.bytes < second->name.bytes ? first->name.bytes : second->name.bytes;
    return order ? order : memcmp(first->name.text, second->name.text, bytes);
}

static const struct candidate *candidate_of(const struct reading *reading, size_t place)
{
    return &reading->candidates[reading->places[place].value];
}

/* Orders the candidates from place `first` up to `end`, without labels where there are functions; gives their number. */
static size_t rank(struct reading *reading, size_t first, size_t end)
{
    bool has_functions = false;
    size_t count = 0;
    for (size_t i = first; i < end; i++)
        has_functions |= !candidate_of(reading, i)->is_label;
    for (size_t i = first; i < end; i++)
        if (!has_functions || !candidate_of(reading, i)->is_label)
            reading->ranks[count++] = candidate_of(reading, i);
    if (count > 1)
        qsort(reading->ranks, count, sizeof(const struct candidate *), compare_ranks);
    return count;
}

/* Makes a symbol of the candidates of an address. */
static int choose(struct reading *reading, uint64_t address, size_t first, size_t end)
{
    struct col_symbols *symbols = reading->symbols;
    if (!COL_ARRAY_RESERVE(reading->ranks, reading->rank_capacity, end - first) ||
        !COL_ARRAY_RESERVE(symbols->items, symbols->capacity, symbols->count + 1) ||
        !COL_ARRAY_RESERVE(symbols->aliases, symbols->alias_capacity, symbols->alias_count + (end - first)))
        return -ENOMEM;
    size_t count = rank(reading, first, end);
    const struct candidate *best = reading->ranks[0];
    struct col_symbol symbol = {.start = address, .name = best->name, .is_label = best->is_label};
    if (best->is_label && best->name.bytes > 0 && best->name.text[0] == '$') /* $x and $d mark code and data on Arm */
        return 0;
    for (size_t i = 0; i < count; i++) {
        const struct candidate *other = reading->ranks[i];
        symbol.size = other->size > symbol.size ? other->size : symbol.size;
        if (!col_symbol_name_equals(other->name, best->name))
            symbols->aliases[symbols->alias_count++] = (struct col_symbol_alias){address, other->name};
    }
    symbols->items[symbols->count++] = symbol;
    return 0;
}

/* Names are compared with that of the first entry, and ranked: the room is for that as well. */
static bool charge_group(struct reading *reading, size_t first, size_t end)
{
    const struct candidate *one = candidate_of(reading, first);
    for (size_t i = first + 1; i < end; i++) {
        const struct candidate *other = candidate_of(reading, i);
        if (!charge(&reading->tables[one->table], one->name_bytes) ||
            !charge(&reading->tables[other->table], other->name_bytes))
            return false;
    }
    return true;
}

static int choose_all(struct reading *reading, const struct col_code_range *code, size_t code_count)
{
    size_t around = 0;
    int status = 0;
    for (size_t first = 0, end; status == 0 && first < reading->count; first = end) {
        uint64_t address = reading->places[first].key;
        for (end = first + 1; end < reading->count && reading->places[end].key == address;)
            end++;
        if (!charge_group(reading, first, end))
            return -ENOTSUP;
        while (around < code_count && code[around].end <= address)
            around++;
        if (around < code_count && code[around].start <= address)
            status = choose(reading, address, first, end);
    }
    return status;
}

int col_symbols_read(struct col_symbols *symbols, struct col_symbol_table *tables, size_t table_count,
                     const struct col_code_range *code, size_t code_count)
{
    struct reading reading = {.tables = tables, .symbols = symbols};
    int status = 0;
    symbols->count = symbols->alias_count = 0;
    for (size_t i = 0; status == 0 && i < table_count; i++)
        status = collect(&reading, (uint32_t)i);
    col_sort_keyed(reading.places, reading.count);
    if (status == 0)
        status = choose_all(&reading, code, code_count);
    free(reading.candidates);
    free(reading.places);
    free(reading.ranks);
    return status;
}

void col_symbols_free(struct col_symbols *symbols)
{
    free(symbols->items);
    free(symbols->aliases);
}
