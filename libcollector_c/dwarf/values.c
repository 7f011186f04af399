/* values.c -- what values mean: addresses, lists of ranges, strings */
#include "units.h"

#include "forms.h"

enum { LONGEST_NAME = 1 << 16 };
enum {
    RLE_end,
    RLE_base_addressx,
    RLE_startx_endx,
    RLE_startx_length,
    RLE_offset_pair,
    RLE_base_address,
    RLE_start_end,
    RLE_start_length
};

static uint64_t indexed(struct col_dwarf_bytes section, uint64_t base, uint64_t index, unsigned bytes, bool *is_bad)
{
    uint64_t offset;
    if (__builtin_mul_overflow(index, (uint64_t)bytes, &offset) || __builtin_add_overflow(offset, base, &offset)) {
        *is_bad = true;
        return 0;
    }
    struct col_dwarf_cursor cursor = col_dwarf_at(section, offset);
    uint64_t value = col_dwarf_fixed(&cursor, bytes);
    *is_bad |= cursor.is_bad;
    return value;
}

static uint64_t address_at(const struct col_dwarf_file *file, const struct col_dwarf_bases *bases, uint64_t index,
                           bool *is_bad)
{
    return indexed(file->sections[COL_DWARF_ADDR], bases->addresses, index, 8, is_bad);
}

static uint64_t address_of(const struct col_dwarf_file *file, const struct col_dwarf_bases *bases,
                           const struct col_dwarf_value *value, bool *is_bad)
{
    return col_dwarf_is_address_index(value->form) ? address_at(file, bases, value->number, is_bad) : value->number;
}

struct col_dwarf_bases col_dwarf_bases_of(const struct col_dwarf_file *file, const struct col_dwarf_entry *root)
{
    if (file->is_split)
        return file->split;
    struct col_dwarf_bases bases = {
        .addresses = root->address_base.number, .strings = root->string_base.number, .ranges = root->range_base.number};
    bool is_bad = false;
    uint64_t code = root->low.form ? address_of(file, &bases, &root->low, &is_bad) : 0;
    bases.code = is_bad ? 0 : code;
    return bases;
}

uint32_t col_dwarf_file_number(const struct col_dwarf_value *value)
{
    return value->form && value->number < COL_DWARF_NOTHING ? (uint32_t)value->number : COL_DWARF_NOTHING;
}

uint32_t col_dwarf_line(uint64_t number)
{
    return number <= INT32_MAX ? (uint32_t)number : 0;
}

static const char *string_at(struct col_dwarf_bytes section, uint64_t offset)
{
    struct col_dwarf_cursor cursor = col_dwarf_at(section, offset);
    if (cursor.end - cursor.at > LONGEST_NAME)
        cursor.end = cursor.at + LONGEST_NAME;
    return cursor.is_bad ? NULL : col_dwarf_string(&cursor);
}

const char *col_dwarf_text(const struct col_dwarf_file *file, const struct col_dwarf_file *supplement,
                           const struct col_dwarf_unit *unit, const struct col_dwarf_bases *bases,
                           const struct col_dwarf_value *value)
{
    if (value->form == DW_FORM_string)
        return value->text;
    if (value->form == DW_FORM_strp)
        return string_at(file->sections[COL_DWARF_STR], value->number);
    if (value->form == DW_FORM_line_strp)
        return string_at(file->sections[COL_DWARF_LINE_STR], value->number);
    if (value->form == DW_FORM_GNU_strp_alt || value->form == DW_FORM_strp_sup)
        return supplement ? string_at(supplement->sections[COL_DWARF_STR], value->number) : NULL;
    if (!col_dwarf_is_string_index(value->form))
        return NULL;
    bool is_bad = false;
    uint64_t offset =
        indexed(file->sections[COL_DWARF_STR_OFFSETS], bases->strings, value->number, unit->offset_bytes, &is_bad);
    return is_bad ? NULL : string_at(file->sections[COL_DWARF_STR], offset);
}

/* .debug_ranges, before DWARF 5. */
static bool each_old_range(struct col_dwarf_file *file, struct col_dwarf_cursor cursor, uint64_t base,
                           col_dwarf_take_range *take, void *context)
{
    while (file->work-- > 0) {
        uint64_t low = col_dwarf_fixed(&cursor, 8), high = col_dwarf_fixed(&cursor, 8);
        if (cursor.is_bad || (low == 0 && high == 0))
            return true;
        if (low == UINT64_MAX)
            base = high;
        else if (!take(context, base + low, base + high))
            return false;
    }
    file->work = 0;
    return false;
}

static bool each_new_range(struct col_dwarf_file *file, const struct col_dwarf_bases *bases,
                           struct col_dwarf_cursor cursor, col_dwarf_take_range *take, void *context)
{
    uint64_t base = bases->code, low = 0, high = 0;
    while (file->work-- > 0) {
        uint64_t kind = col_dwarf_fixed(&cursor, 1);
        bool is_range = true, is_bad = false;
        if (cursor.is_bad || kind == RLE_end)
            return true;
        if (kind == RLE_base_addressx || kind == RLE_base_address) {
            base = kind == RLE_base_address ? col_dwarf_fixed(&cursor, 8)
                                            : address_at(file, bases, col_dwarf_uleb(&cursor), &is_bad);
            is_range = false;
        } else if (kind == RLE_startx_endx || kind == RLE_startx_length) {
            low = address_at(file, bases, col_dwarf_uleb(&cursor), &is_bad);
            high = col_dwarf_uleb(&cursor);
            high = kind == RLE_startx_length ? low + high : address_at(file, bases, high, &is_bad);
        } else if (kind == RLE_offset_pair) {
            low = base + col_dwarf_uleb(&cursor);
            high = base + col_dwarf_uleb(&cursor);
        } else if (kind == RLE_start_end || kind == RLE_start_length) {
            low = col_dwarf_fixed(&cursor, 8);
            high = kind == RLE_start_end ? col_dwarf_fixed(&cursor, 8) : low + col_dwarf_uleb(&cursor);
        } else {
            return true;
        }
        if (cursor.is_bad || is_bad)
            return true;
        if (is_range && !take(context, low, high))
            return false;
    }
    file->work = 0;
    return false;
}

static bool each_listed_range(struct col_dwarf_file *file, const struct col_dwarf_unit *unit,
                              const struct col_dwarf_bases *bases, const struct col_dwarf_value *list,
                              col_dwarf_take_range *take, void *context)
{
    uint64_t offset = list->number;
    bool is_bad = false;
    if (unit->version < 5) {
        if (__builtin_add_overflow(offset, bases->ranges, &offset))
            return true;
        return each_old_range(file, col_dwarf_at(file->sections[COL_DWARF_RANGES], offset), bases->code, take, context);
    }
    struct col_dwarf_bytes lists = file->sections[COL_DWARF_RNGLISTS];
    if (list->form == DW_FORM_rnglistx)
        offset = bases->ranges + indexed(lists, bases->ranges, offset, unit->offset_bytes, &is_bad);
    return is_bad || each_new_range(file, bases, col_dwarf_at(lists, offset), take, context);
}

bool col_dwarf_each_range(struct col_dwarf_file *file, const struct col_dwarf_unit *unit,
                          const struct col_dwarf_bases *bases, const struct col_dwarf_entry *entry,
                          col_dwarf_take_range *take, void *context)
{
    if (entry->ranges.form)
        return each_listed_range(file, unit, bases, &entry->ranges, take, context);
    if (!entry->low.form || !entry->high.form)
        return true;
    bool is_bad = false;
    uint64_t low = address_of(file, bases, &entry->low, &is_bad), high = entry->high.number;
    if (col_dwarf_is_address_index(entry->high.form))
        high = address_at(file, bases, high, &is_bad);
    else if (entry->high.form != DW_FORM_addr)
        high += low;
    return is_bad || take(context, low, high);
}
