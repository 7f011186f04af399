/* units.c -- headers of units, their abbreviations, their entries */
#include "units.h"

#include "forms.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdlib.h>

enum { UNIT_TYPE = 2, UNIT_SKELETON = 4, UNIT_SPLIT_COMPILE = 5, UNIT_SPLIT_TYPE = 6, LEAST_UNIT_BYTES = 11 };
enum { MOST_READINGS = 8 }; /* of each byte, on average */

/* One header at the cursor; false where there is none. */
static bool read_header(struct col_dwarf_bytes info, uint64_t offset, struct col_dwarf_unit *unit)
{
    struct col_dwarf_cursor cursor = col_dwarf_at(info, offset);
    uint64_t length = col_dwarf_fixed(&cursor, 4);
    *unit = (struct col_dwarf_unit){.offset = offset, .offset_bytes = 4};
    if (length == UINT32_MAX) {
        length = col_dwarf_fixed(&cursor, 8);
        unit->offset_bytes = 8;
    }
    uint64_t body = (uint64_t)(cursor.at - info.start);
    if (cursor.is_bad || length > info.size - body || body + length < offset + LEAST_UNIT_BYTES)
        return false;
    unit->end = body + length;
    unit->version = (unsigned)col_dwarf_fixed(&cursor, 2);
    uint64_t kind = 0;
    if (unit->version >= 5) {
        kind = col_dwarf_fixed(&cursor, 1);
        col_dwarf_skip(&cursor, 1);
    }
    unit->abbreviations_offset = col_dwarf_fixed(&cursor, unit->offset_bytes);
    if (unit->version < 5)
        col_dwarf_skip(&cursor, 1);
    if (kind == UNIT_TYPE || kind == UNIT_SPLIT_TYPE)
        col_dwarf_skip(&cursor, 8 + unit->offset_bytes);
    else if (kind == UNIT_SKELETON || kind == UNIT_SPLIT_COMPILE)
        col_dwarf_skip(&cursor, 8);
    unit->entry = (uint64_t)(cursor.at - info.start);
    return !cursor.is_bad && unit->entry <= unit->end;
}

int col_dwarf_index_units(struct col_dwarf_file *file)
{
    struct col_dwarf_bytes info = file->sections[COL_DWARF_INFO];
    struct col_dwarf_unit unit;
    for (uint64_t offset = 0; info.start && offset < info.size && read_header(info, offset, &unit); offset = unit.end) {
        if (!COL_ARRAY_RESERVE(file->units, file->unit_capacity, file->unit_count + 1))
            return -ENOMEM;
        file->units[file->unit_count++] = unit;
    }
    for (int i = 0; i < COL_DWARF_SECTIONS; i++)
        file->work += MOST_READINGS * file->sections[i].size;
    return 0;
}

int col_dwarf_hold_units(struct col_dwarf_file *file, const uint64_t *offsets, size_t count)
{
    struct col_dwarf_bytes info = file->sections[COL_DWARF_INFO];
    file->is_partial = true;
    file->unit_count = 0;
    if (!COL_ARRAY_RESERVE(file->units, file->unit_capacity, count))
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        bool is_after = i == 0 || offsets[i] >= file->units[i - 1].end;
        if (!is_after || offsets[i] >= info.size || !read_header(info, offsets[i], &file->units[i]))
            return -EBADMSG;
        file->unit_count = i + 1;
    }
    return 0;
}

void col_dwarf_free_file(struct col_dwarf_file *file)
{
    free(file->missing);
    for (size_t i = 0; i < file->table_count; i++) {
        col_dwarf_free_abbreviations(file->tables[i]);
        free(file->tables[i]);
    }
    free(file->tables);
    free(file->units);
}

const struct col_dwarf_unit *col_dwarf_unit_around(const struct col_dwarf_file *file, uint64_t offset)
{
    size_t low = 0, high = file->unit_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->units[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < file->unit_count && file->units[low].offset <= offset ? &file->units[low] : NULL;
}

static size_t place_of(const struct col_dwarf_file *file, uint64_t offset)
{
    size_t low = 0, high = file->table_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (file->tables[middle]->offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int col_dwarf_abbreviations_of(struct col_dwarf_file *file, const struct col_dwarf_unit *unit,
                               const struct col_dwarf_abbreviations **found)
{
    size_t place = place_of(file, unit->abbreviations_offset);
    if (place < file->table_count && file->tables[place]->offset == unit->abbreviations_offset) {
        *found = file->tables[place];
        return 0;
    }
    if (!COL_ARRAY_RESERVE(file->tables, file->table_capacity, file->table_count + 1))
        return -ENOMEM;
    struct col_dwarf_abbreviations *table = calloc(1, sizeof *table);
    if (!table)
        return -ENOMEM;
    int status =
        col_dwarf_read_abbreviations(file->sections[COL_DWARF_ABBREV], unit->abbreviations_offset, &file->work, table);
    if (status != 0) {
        col_dwarf_free_abbreviations(table);
        free(table);
        return status;
    }
    memmove(file->tables + place + 1, file->tables + place,
            (file->table_count - place) * sizeof(struct col_dwarf_abbreviations *));
    file->tables[place] = table;
    file->table_count++;
    *found = table;
    return 0;
}

static void keep(struct col_dwarf_entry *entry, uint32_t name, struct col_dwarf_value value)
{
    switch (name) {
    case DW_AT_low_pc:
        entry->low = value;
        break;
    case DW_AT_high_pc:
        entry->high = value;
        break;
    case DW_AT_ranges:
        entry->ranges = value;
        break;
    case DW_AT_abstract_origin:
        entry->origin = value;
        break;
    case DW_AT_specification:
        entry->specification = value;
        break;
    case DW_AT_name:
        entry->name = value;
        break;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        entry->linkage_name = value;
        break;
    case DW_AT_call_file:
        entry->call_file = value;
        break;
    case DW_AT_call_line:
        entry->call_line = value.number;
        break;
    case DW_AT_decl_file:
        entry->declared_file = value;
        break;
    case DW_AT_decl_line:
        entry->declared_line = value.number;
        break;
    case DW_AT_decl_column:
        entry->declared_column = value.number;
        break;
    case DW_AT_language:
        entry->language = value.number;
        break;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
        entry->address_base = value;
        break;
    case DW_AT_str_offsets_base:
        entry->string_base = value;
        break;
    case DW_AT_rnglists_base:
        entry->range_base = value;
        break;
    default:
        break;
    }
}

static void read_attribute(struct col_dwarf_cursor *cursor, const struct col_dwarf_unit *unit,
                           const struct col_dwarf_attribute *attribute, struct col_dwarf_entry *entry)
{
    int bytes = attribute->bytes[unit->offset_bytes == 8];
    struct col_dwarf_value value = {.form = attribute->form};
    if (value.form == DW_FORM_indirect)
        value.form = (uint32_t)col_dwarf_uleb(cursor);
    if (value.form == DW_FORM_implicit_const)
        value.number = (uint64_t)attribute->constant;
    else if (value.form == DW_FORM_string)
        value.text = col_dwarf_string(cursor);
    else if (bytes > 0 && bytes <= 8)
        value.number = col_dwarf_fixed(cursor, (unsigned)bytes);
    else
        value.number = col_dwarf_read_form(cursor, value.form, unit->offset_bytes);
    keep(entry, attribute->name, value);
}

static void skip_value(struct col_dwarf_cursor *cursor, const struct col_dwarf_unit *unit, uint32_t form)
{
    if (form == DW_FORM_exprloc)
        col_dwarf_skip(cursor, col_dwarf_uleb(cursor));
    else if (form == DW_FORM_indirect)
        col_dwarf_read_form(cursor, (uint32_t)col_dwarf_uleb(cursor), unit->offset_bytes);
    else
        col_dwarf_read_form(cursor, form, unit->offset_bytes);
}

/* Every step takes a byte at least, except the last, so that damage ends this. */
static void skip_entry(struct col_dwarf_cursor *cursor, const struct col_dwarf_unit *unit,
                       const struct col_dwarf_step *step)
{
    unsigned wide = unit->offset_bytes == 8;
    for (; step->form != 0 && !cursor->is_bad; step++) {
        col_dwarf_skip(cursor, step->bytes[wide]);
        skip_value(cursor, unit, step->form);
    }
    col_dwarf_skip(cursor, step->bytes[wide]);
}

bool col_dwarf_read_entry(struct col_dwarf_cursor *cursor, const struct col_dwarf_unit *unit,
                          const struct col_dwarf_abbreviations *table, enum col_dwarf_wanted wanted,
                          struct col_dwarf_entry *entry)
{
    uint64_t code = col_dwarf_uleb(cursor);
    entry->tag = 0;
    if (cursor->is_bad || code == 0)
        return !cursor->is_bad;
    const struct col_dwarf_abbreviation *item = col_dwarf_abbreviation(table, code);
    if (!item)
        return false;
    bool is_call = item->tag == DW_TAG_subprogram || item->tag == DW_TAG_inlined_subroutine;
    bool is_wanted = wanted == COL_DWARF_ALL || (wanted == COL_DWARF_CALLS && is_call);
    if (!is_wanted) {
        entry->tag = item->tag ? item->tag : UINT32_MAX;
        entry->has_children = item->has_children;
        skip_entry(cursor, unit, table->steps + item->first_step);
        return !cursor->is_bad;
    }
    *entry = (struct col_dwarf_entry){.tag = item->tag ? item->tag : UINT32_MAX, .has_children = item->has_children};
    const struct col_dwarf_attribute *attributes = table->attributes + item->first;
    for (uint32_t i = 0; i < item->count && !cursor->is_bad; i++)
        read_attribute(cursor, unit, &attributes[i], entry);
    return !cursor->is_bad;
}
