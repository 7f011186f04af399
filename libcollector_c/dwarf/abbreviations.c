/* abbreviations.c -- a table of abbreviations, in the order of their codes */
#include "abbreviations.h"

#include "forms.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdlib.h>

enum { MOST_TAG = 0xffff, UNKNOWN_FORM = 0xffff };

static uint16_t known(uint64_t number)
{
    return number <= MOST_TAG ? (uint16_t)number : 0;
}

static struct col_dwarf_attribute make_attribute(uint64_t name, uint64_t form, int64_t constant)
{
    return (struct col_dwarf_attribute){
        known(name),
        known(form),
        {(int8_t)col_dwarf_form_bytes(known(form), 4), (int8_t)col_dwarf_form_bytes(known(form), 8)},
        constant};
}

static bool add_attributes(struct col_dwarf_abbreviations *table, struct col_dwarf_cursor *cursor)
{
    for (;;) {
        uint64_t name = col_dwarf_uleb(cursor), form = col_dwarf_uleb(cursor);
        int64_t constant = form == DW_FORM_implicit_const ? col_dwarf_sleb(cursor) : 0;
        if (cursor->is_bad || (name == 0 && form == 0))
            return true;
        if (!COL_ARRAY_RESERVE(table->attributes, table->attribute_capacity, table->attribute_count + 1))
            return false;
        table->attributes[table->attribute_count++] = make_attribute(name, form, constant);
    }
}

static bool add_step(struct col_dwarf_abbreviations *table, struct col_dwarf_step step)
{
    if (!COL_ARRAY_RESERVE(table->steps, table->step_capacity, table->step_count + 1))
        return false;
    table->steps[table->step_count++] = step;
    return true;
}

static bool add_steps(struct col_dwarf_abbreviations *table, uint32_t first)
{
    struct col_dwarf_step step = {0};
    for (size_t i = first; i < table->attribute_count; i++) {
        const struct col_dwarf_attribute *attribute = &table->attributes[i];
        if (attribute->bytes[0] >= 0) {
            step.bytes[0] += (uint8_t)attribute->bytes[0];
            step.bytes[1] += (uint8_t)attribute->bytes[1];
            continue;
        }
        step.form = attribute->form ? attribute->form : UNKNOWN_FORM;
        if (!add_step(table, step))
            return false;
        step = (struct col_dwarf_step){0};
    }
    return add_step(table, step);
}

static int compare(const void *left, const void *right)
{
    const struct col_dwarf_abbreviation *first = left, *second = right;
    return (first->code > second->code) - (first->code < second->code);
}

static int add(struct col_dwarf_abbreviations *table, struct col_dwarf_cursor *cursor, uint64_t code)
{
    struct col_dwarf_abbreviation item = {.code = code, .first = (uint32_t)table->attribute_count};
    uint64_t tag = col_dwarf_uleb(cursor);
    item.tag = known(tag);
    item.has_children = col_dwarf_fixed(cursor, 1) != 0;
    item.first_step = (uint32_t)table->step_count;
    if (!add_attributes(table, cursor) || !add_steps(table, item.first) ||
        !COL_ARRAY_RESERVE(table->items, table->capacity, table->count + 1))
        return -ENOMEM;
    item.count = (uint32_t)table->attribute_count - item.first;
    table->items[table->count++] = item;
    return cursor->is_bad ? -EBADMSG : 0;
}

int col_dwarf_read_abbreviations(struct col_dwarf_bytes section, uint64_t offset, uint64_t *work,
                                 struct col_dwarf_abbreviations *table)
{
    struct col_dwarf_cursor cursor = col_dwarf_at(section, offset);
    const uint8_t *start = cursor.at;
    int status = cursor.is_bad ? -EBADMSG : 0;
    bool is_sorted = true;
    table->offset = offset;
    while (status == 0) {
        uint64_t code = col_dwarf_uleb(&cursor);
        if (cursor.is_bad || (uint64_t)(cursor.at - start) > *work)
            return -EBADMSG;
        if (code == 0)
            break;
        is_sorted &= table->count == 0 || table->items[table->count - 1].code < code;
        status = add(table, &cursor, code);
    }
    *work -= (uint64_t)(cursor.at - start) <= *work ? (uint64_t)(cursor.at - start) : *work;
    if (status == 0 && !is_sorted)
        qsort(table->items, table->count, sizeof *table->items, compare);
    return status;
}

int col_dwarf_find_abbreviation(const struct col_dwarf_bytes *section, uint64_t offset, uint64_t code,
                                struct col_dwarf_attribute *attributes, size_t room, uint64_t *read_bytes)
{
    struct col_dwarf_cursor cursor = col_dwarf_at(*section, offset);
    const uint8_t *start = cursor.at;
    bool is_found = false;
    size_t count = 0;
    for (uint64_t next; !is_found && !cursor.is_bad && (next = col_dwarf_uleb(&cursor)) != 0; is_found = next == code) {
        col_dwarf_uleb(&cursor);
        col_dwarf_skip(&cursor, 1);
        for (count = 0; !cursor.is_bad; count++) {
            uint64_t name = col_dwarf_uleb(&cursor), form = col_dwarf_uleb(&cursor);
            int64_t constant = form == DW_FORM_implicit_const ? col_dwarf_sleb(&cursor) : 0;
            if (name == 0 && form == 0)
                break;
            if (next == code && count < room)
                attributes[count] = make_attribute(name, form, constant);
        }
    }
    *read_bytes = (uint64_t)(cursor.at - start);
    return is_found && !cursor.is_bad && count <= room ? (int)count : -EBADMSG;
}

void col_dwarf_free_abbreviations(struct col_dwarf_abbreviations *table)
{
    free(table->items);
    free(table->attributes);
    free(table->steps);
}

const struct col_dwarf_abbreviation *col_dwarf_abbreviation(const struct col_dwarf_abbreviations *table, uint64_t code)
{
    if (code - 1 < table->count && table->items[code - 1].code == code) /* as compilers number them */
        return &table->items[code - 1];
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->items[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && table->items[low].code == code ? &table->items[low] : NULL;
}
