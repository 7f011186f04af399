/* names.c -- what functions are called: a linkage name says all, any other is looked for in its unit, to see what it is within */
#include "functions.h"

#include "forms.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_DEPTH = 4096 };

/* C and Fortran, in all versions: what their functions are within says nothing that their names do not. */
static const uint8_t languages_without_scopes[] = {0x01, 0x02, 0x07, 0x08, 0x0c, 0x0e, 0x1d, 0x22, 0x23, 0x2c, 0x2d};

/* A walk through a unit; around the entry, what is open: the offsets of scopes, and their tags (0: no scope). */
struct search {
    struct col_dwarf_functions *functions;
    struct col_dwarf_file *supplement;
    struct col_dwarf_file *file;
    const struct col_dwarf_unit *unit;
    const struct col_dwarf_abbreviations *table;
    uint64_t open[MOST_DEPTH];
    uint32_t tags[MOST_DEPTH];
    uint32_t depth;
};

static bool is_scope(uint32_t tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_subprogram;
}

static bool has_scopes(uint64_t language)
{
    return !memchr(languages_without_scopes, (int)(language & 0xff), sizeof languages_without_scopes) ||
           language > 0xff;
}

static bool add(char **texts, size_t *count, size_t *capacity, const char *text, size_t bytes)
{
    if (bytes == 0)
        return true;
    if (!COL_ARRAY_RESERVE(*texts, *capacity, *count + bytes))
        return false;
    memcpy(*texts + *count, text, bytes);
    *count += bytes;
    return true;
}

static bool add_scope(struct col_dwarf_functions *functions, const char *name)
{
    return add(&functions->scopes, &functions->scope_bytes, &functions->scope_capacity, name, strlen(name)) &&
           add(&functions->scopes, &functions->scope_bytes, &functions->scope_capacity, "::", 2);
}

/* Whether a function of a class without a name is that of a lambda; if it takes `auto`, its name tells what for. */
static bool is_lambda(uint32_t tag, const char *function)
{
    static const char call[] = "operator()";
    size_t length = sizeof call - 1;
    return (tag == DW_TAG_class_type || tag == DW_TAG_structure_type) && strncmp(function, call, length) == 0 &&
           (function[length] == 0 || function[length] == '<');
}

/* Lambdas of one function have nothing but their place to tell them apart. */
static bool add_lambda(struct col_dwarf_functions *functions, const struct col_dwarf_scope *scope)
{
    char text[64] = "{lambda}";
    if (scope->line && scope->column)
        snprintf(text, sizeof text, "{lambda:%u:%u}", scope->line, scope->column);
    else if (scope->line)
        snprintf(text, sizeof text, "{lambda:%u}", scope->line);
    return add_scope(functions, text);
}

/* Compilers say of a lambda itself where it is, not of the function in it. */
static void declare(struct col_dwarf_functions *functions, size_t number, const struct col_dwarf_scope *scope)
{
    if (functions->declared_lines[number] || functions->declared_units[number] != COL_DWARF_NO_OFFSET)
        return;
    functions->declared_units[number] = scope->unit;
    functions->declared_files[number] = scope->file;
    functions->declared_lines[number] = scope->line;
}

static bool add_nameless(struct col_dwarf_functions *functions, const struct col_dwarf_name *name, uint32_t tag,
                         const struct col_dwarf_scope *scope)
{
    if (tag == DW_TAG_namespace)
        return add_scope(functions, "(anonymous namespace)");
    if (!is_lambda(tag, name->text))
        return true;
    declare(functions, (size_t)(name - functions->texts), scope);
    return add_lambda(functions, scope);
}

/* Writes down what is around the entry now. */
static int note_scopes(struct search *search, struct col_dwarf_name *name)
{
    struct col_dwarf_functions *functions = search->functions;
    name->scope = functions->scope_bytes;
    for (uint32_t i = 0; i < search->depth; i++) {
        struct col_dwarf_scope scope;
        if (search->tags[i] == 0)
            continue;
        int status = col_dwarf_describe_scope(search->file, search->supplement, search->open[i], &scope);
        if (status != 0)
            return status;
        if (!(scope.name ? add_scope(functions, scope.name) : add_nameless(functions, name, search->tags[i], &scope)))
            return -ENOMEM;
    }
    name->scope_bytes = functions->scope_bytes - name->scope;
    return 0;
}

/* The names of one unit, by the offsets of their entries. */
static int search_unit(struct search *search, struct col_dwarf_name **names, size_t count)
{
    struct col_dwarf_bytes info = search->file->sections[COL_DWARF_INFO];
    struct col_dwarf_cursor cursor = col_dwarf_at(info, search->unit->entry);
    struct col_dwarf_entry entry = {0};
    if (!col_dwarf_read_entry(&cursor, search->unit, search->table, COL_DWARF_ALL, &entry))
        return -EBADMSG;
    uint64_t bytes = search->unit->end - search->unit->offset;
    if (bytes > search->file->work) /* units that are looked through again and again: names alone must do */
        return 0;
    if (has_scopes(entry.language))
        search->file->work -= bytes;
    search->depth = 0;
    for (size_t next = 0; next < count && has_scopes(entry.language) && cursor.at < info.start + search->unit->end;) {
        uint64_t offset = (uint64_t)(cursor.at - info.start);
        if (!col_dwarf_read_entry(&cursor, search->unit, search->table, COL_DWARF_NO_ATTRIBUTES, &entry))
            return -EBADMSG;
        for (; next < count && names[next]->offset <= offset; next++) {
            int status = names[next]->offset == offset ? note_scopes(search, names[next]) : 0;
            if (status != 0)
                return status;
        }
        if (entry.tag == 0)
            search->depth -= search->depth > 0;
        if (entry.tag == 0 || !entry.has_children)
            continue;
        if (search->depth + 1 >= MOST_DEPTH)
            return -EBADMSG;
        search->open[search->depth] = offset;
        search->tags[search->depth++] = is_scope(entry.tag) ? entry.tag : 0;
    }
    return 0;
}

static int search_all(struct search *search, struct col_dwarf_name **names, size_t count)
{
    for (size_t first = 0, end; first < count; first = end) {
        search->file = names[first]->file;
        search->unit = col_dwarf_unit_around(search->file, names[first]->offset);
        if (!search->unit)
            return -EBADMSG;
        for (end = first + 1;
             end < count && names[end]->file == search->file && names[end]->offset < search->unit->end;)
            end++;
        int status = col_dwarf_abbreviations_of(search->file, search->unit, &search->table);
        if (status == 0)
            status = search_unit(search, names + first, end - first);
        if (status != 0)
            return status;
    }
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct col_dwarf_name *const *first = left, *const *second = right;
    if ((*first)->file != (*second)->file)
        return (uintptr_t)(*first)->file < (uintptr_t)(*second)->file ? -1 : 1;
    return ((*first)->offset > (*second)->offset) - ((*first)->offset < (*second)->offset);
}

static int find_scopes(struct col_dwarf_functions *functions, struct col_dwarf_file *supplement)
{
    struct col_dwarf_name **names = calloc(functions->count, sizeof(struct col_dwarf_name *));
    struct search *search = calloc(1, sizeof *search);
    size_t count = 0;
    int status = names && search ? 0 : -ENOMEM;
    for (size_t i = 0; status == 0 && i < functions->count; i++)
        if (functions->texts[i].file)
            names[count++] = &functions->texts[i];
    if (status == 0) {
        search->functions = functions;
        search->supplement = supplement;
        qsort(names, count, sizeof(struct col_dwarf_name *), compare);
        status = search_all(search, names, count);
    }
    free(search);
    free(names);
    return status;
}

/* A function by what is told of it, without its linkage name. */
struct told {
    struct col_dwarf_name *name;
    const char *scope;
    uint64_t unit;
    uint32_t file, line;
};

static int compare_names(const struct told *left, const struct told *right)
{
    if (left->name->scope_bytes != right->name->scope_bytes)
        return left->name->scope_bytes < right->name->scope_bytes ? -1 : 1;
    int order = left->name->scope_bytes ? memcmp(left->scope, right->scope, left->name->scope_bytes) : 0;
    if (order == 0)
        order = strcmp(left->name->text, right->name->text);
    if (order == 0)
        order = (left->unit > right->unit) - (left->unit < right->unit);
    return order ? order : (left->file > right->file) - (left->file < right->file);
}

static int compare_told(const void *left, const void *right)
{
    const struct told *first = left, *second = right;
    int order = compare_names(first, second);
    return order ? order : (first->line > second->line) - (first->line < second->line);
}

/* Overloads without linkage names, and procedures within others, share all but the line where they are declared. */
static int find_ambiguous(struct col_dwarf_functions *functions)
{
    struct told *told = calloc(functions->count, sizeof *told);
    size_t count = 0;
    if (!told)
        return -ENOMEM;
    for (size_t i = 0; i < functions->count; i++) {
        struct col_dwarf_name *name = &functions->texts[i];
        if (name->file && functions->declared_lines[i])
            told[count++] = (struct told){.name = name,
                                          .scope = name->scope_bytes ? functions->scopes + name->scope : NULL,
                                          .unit = functions->declared_units[i],
                                          .file = functions->declared_files[i],
                                          .line = functions->declared_lines[i]};
    }
    qsort(told, count, sizeof *told, compare_told);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && compare_names(&told[first], &told[end]) == 0;)
            end++;
        for (size_t i = first; i < end; i++)
            told[i].name->is_ambiguous = told[first].line != told[end - 1].line;
    }
    free(told);
    return 0;
}

int col_dwarf_write_names(struct col_dwarf_functions *functions, struct col_dwarf_file *supplement)
{
    int status = functions->count ? find_scopes(functions, supplement) : 0;
    if (status == 0 && functions->count)
        status = find_ambiguous(functions);
    for (size_t i = 0; status == 0 && i < functions->count; i++) {
        const struct col_dwarf_name *name = &functions->texts[i];
        const char *text = name->text ? name->text : "??";
        char **names = &functions->names;
        size_t *bytes = &functions->name_bytes, *capacity = &functions->name_capacity;
        const char *scope = name->scope_bytes ? functions->scopes + name->scope : "";
        char line[16] = "";
        if (name->is_ambiguous)
            snprintf(line, sizeof line, ":%u", functions->declared_lines[i]);
        if (!add(names, bytes, capacity, scope, name->scope_bytes) ||
            !add(names, bytes, capacity, text, strlen(text)) || !add(names, bytes, capacity, line, strlen(line) + 1))
            return -ENOMEM;
    }
    return status;
}
