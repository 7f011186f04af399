/* functions.c -- from an inlined call to the name of what was called: along abstract origins and specifications */
#include "functions.h"

#include "forms.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdlib.h>

enum { LONGEST_WAY = 8, FIRST_ORIGINS = 64 };
#define IN_SUPPLEMENT (UINT64_C(1) << 63)

/* Where an entry is described: its offset in the .debug_info of a file. */
struct place {
    struct col_dwarf_file *file;
    uint64_t offset;
};

struct description {
    const char *name;
    struct place named; /* by whom */
    const char *linkage_name;
    uint64_t unit; /* in whose line table the file counts */
    uint32_t file;
    uint32_t line;
    uint32_t column;
};

static bool follow(struct col_dwarf_file *file, struct col_dwarf_file *supplement, const struct col_dwarf_unit *unit,
                   const struct col_dwarf_value *reference, struct place *place)
{
    switch (reference->form) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
        *place = (struct place){file, unit->offset + reference->number};
        return reference->number < unit->end - unit->offset;
    case DW_FORM_ref_addr:
        *place = (struct place){file, reference->number};
        return true;
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
        *place = (struct place){supplement, reference->number};
        return supplement != NULL;
    default:
        return false;
    }
}

static void add_to(struct description *description, const struct place *place, const struct col_dwarf_file *supplement,
                   const struct col_dwarf_unit *unit, const struct col_dwarf_bases *bases,
                   const struct col_dwarf_entry *entry)
{
    if (!description->linkage_name)
        description->linkage_name = col_dwarf_text(place->file, supplement, unit, bases, &entry->linkage_name);
    if (!description->name) {
        description->name = col_dwarf_text(place->file, supplement, unit, bases, &entry->name);
        description->named = *place;
    }
    if (description->unit == COL_DWARF_NO_OFFSET && entry->declared_file.form && place->file != supplement) {
        description->file = col_dwarf_file_number(&entry->declared_file);
        description->unit = unit->offset;
    }
    if (description->line == 0)
        description->line = col_dwarf_line(entry->declared_line);
    if (description->column == 0)
        description->column = col_dwarf_line(entry->declared_column);
}

/* The first entry of a unit has the bases of its strings; only those of DWARF 5's split strings need them. */
static int read_bases(struct col_dwarf_file *file, const struct col_dwarf_unit *unit,
                      const struct col_dwarf_abbreviations *table, struct col_dwarf_bases *bases)
{
    struct col_dwarf_entry root = {0};
    struct col_dwarf_cursor cursor = col_dwarf_at(file->sections[COL_DWARF_INFO], unit->entry);
    if (!col_dwarf_read_entry(&cursor, unit, table, COL_DWARF_ALL, &root))
        return -EBADMSG;
    *bases = col_dwarf_bases_of(file, &root);
    return 0;
}

static int note_missing(struct place place)
{
    struct col_dwarf_file *file = place.file;
    if (!file->is_partial || place.offset >= file->sections[COL_DWARF_INFO].size)
        return 0;
    if (!COL_ARRAY_RESERVE(file->missing, file->missing_capacity, file->missing_count + 1))
        return -ENOMEM;
    file->missing[file->missing_count++] = place.offset;
    return 0;
}

static int describe(struct place place, struct col_dwarf_file *supplement, struct description *description)
{
    for (int step = 0; step < LONGEST_WAY; step++) {
        const struct col_dwarf_unit *unit = col_dwarf_unit_around(place.file, place.offset);
        const struct col_dwarf_abbreviations *table;
        struct col_dwarf_entry entry = {0};
        struct col_dwarf_bases bases = {0};
        if (!unit)
            return note_missing(place);
        int status = col_dwarf_abbreviations_of(place.file, unit, &table);
        if (status == 0 && unit->version >= 5)
            status = read_bases(place.file, unit, table, &bases);
        if (status != 0)
            return status;
        struct col_dwarf_cursor cursor = col_dwarf_at(place.file->sections[COL_DWARF_INFO], place.offset);
        if (place.offset < unit->entry || !col_dwarf_read_entry(&cursor, unit, table, COL_DWARF_ALL, &entry))
            return -EBADMSG;
        add_to(description, &place, supplement, unit, &bases, &entry);
        const struct col_dwarf_value *next = entry.origin.form ? &entry.origin : &entry.specification;
        bool is_complete = description->linkage_name && description->unit != COL_DWARF_NO_OFFSET && description->line;
        if (is_complete || !follow(place.file, supplement, unit, next, &place))
            return 0;
    }
    return 0;
}

static size_t slot_of(const struct col_dwarf_functions *functions, uint64_t key)
{
    size_t mask = functions->origin_capacity - 1, slot = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & mask;
    while (functions->origins[slot] != 0 && functions->origins[slot] != key)
        slot = (slot + 1) & mask;
    return slot;
}

/* At most half of the slots are taken. */
static bool make_room(struct col_dwarf_functions *functions)
{
    struct col_dwarf_functions larger = *functions;
    if (functions->origin_capacity > 2 * functions->count)
        return true;
    larger.origin_capacity = functions->origin_capacity ? 4 * functions->origin_capacity : FIRST_ORIGINS;
    larger.origins = calloc(larger.origin_capacity, sizeof *larger.origins);
    larger.numbers = calloc(larger.origin_capacity, sizeof *larger.numbers);
    if (!larger.origins || !larger.numbers) {
        free(larger.origins);
        free(larger.numbers);
        return false;
    }
    for (size_t i = 0; i < functions->origin_capacity; i++) {
        if (functions->origins[i] == 0)
            continue;
        size_t slot = slot_of(&larger, functions->origins[i]);
        larger.origins[slot] = functions->origins[i];
        larger.numbers[slot] = functions->numbers[i];
    }
    free(functions->origins);
    free(functions->numbers);
    *functions = larger;
    return true;
}

static int add(struct col_dwarf_functions *functions, const struct description *description)
{
    struct col_dwarf_name name = {.text = description->linkage_name};
    if (!name.text && description->name)
        name = (struct col_dwarf_name){
            .text = description->name, .file = description->named.file, .offset = description->named.offset};
    size_t count = functions->count + 1;
    if (count >= COL_DWARF_NOTHING || !COL_ARRAY_RESERVE(functions->declared_units, functions->unit_capacity, count) ||
        !COL_ARRAY_RESERVE(functions->declared_files, functions->file_capacity, count) ||
        !COL_ARRAY_RESERVE(functions->declared_lines, functions->line_capacity, count) ||
        !COL_ARRAY_RESERVE(functions->texts, functions->text_capacity, count))
        return -ENOMEM;
    functions->declared_units[count - 1] = description->unit;
    functions->declared_files[count - 1] = description->file;
    functions->declared_lines[count - 1] = description->line;
    functions->texts[count - 1] = name;
    functions->count = count;
    return 0;
}

int col_dwarf_find_function(struct col_dwarf_functions *functions, struct col_dwarf_file *file,
                            struct col_dwarf_file *supplement, const struct col_dwarf_unit *unit,
                            const struct col_dwarf_entry *entry, uint32_t *number)
{
    struct place place = {file, 0};
    struct description description = {.unit = COL_DWARF_NO_OFFSET, .file = COL_DWARF_NOTHING};
    bool is_known = follow(file, supplement, unit, &entry->origin, &place);
    uint64_t key = (place.offset | (place.file == supplement ? IN_SUPPLEMENT : 0)) + 1;
    if (!make_room(functions))
        return -ENOMEM;
    size_t slot = slot_of(functions, is_known ? key : 1);
    if (functions->origins[slot] == 0) {
        int status = is_known ? describe(place, supplement, &description) : 0;
        if (status == 0)
            status = add(functions, &description);
        if (status != 0)
            return status;
        functions->origins[slot] = is_known ? key : 1;
        functions->numbers[slot] = (uint32_t)functions->count - 1;
    }
    *number = functions->numbers[slot];
    return 0;
}

int col_dwarf_describe_scope(struct col_dwarf_file *file, struct col_dwarf_file *supplement, uint64_t offset,
                             struct col_dwarf_scope *scope)
{
    struct description description = {.unit = COL_DWARF_NO_OFFSET, .file = COL_DWARF_NOTHING};
    int status = describe((struct place){file, offset}, supplement, &description);
    *scope = (struct col_dwarf_scope){.name = description.name,
                                      .unit = description.unit,
                                      .file = description.file,
                                      .line = description.line,
                                      .column = description.column};
    return status;
}

void col_dwarf_clear_functions(struct col_dwarf_functions *functions)
{
    if (functions->origin_capacity)
        memset(functions->origins, 0, functions->origin_capacity * sizeof *functions->origins);
    functions->count = functions->name_bytes = functions->scope_bytes = 0;
}

void col_dwarf_free_functions(struct col_dwarf_functions *functions)
{
    free(functions->origins);
    free(functions->numbers);
    free(functions->declared_units);
    free(functions->declared_files);
    free(functions->declared_lines);
    free(functions->texts);
    free(functions->scopes);
    free(functions->names);
}
