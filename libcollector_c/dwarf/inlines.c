/* inlines.c -- one walk over the entries of a unit: inlined calls become nodes, their ranges spans */
#include "inlines.h"

#include "flatten.h"
#include "forms.h"
#include "functions.h"
#include "units.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdlib.h>

enum { MOST_DEPTH = 4096 };

struct nodes {
    uint32_t *parents, *functions, *call_files, *call_lines;
    size_t count, parent_capacity, function_capacity, file_capacity, line_capacity;
};

struct col_dwarf {
    struct col_dwarf_file file;
    struct col_dwarf_file supplement;
    bool has_supplement;
    uint64_t lowest;
    struct nodes nodes;
    struct col_dwarf_functions functions;
    struct col_dwarf_span *spans;
    size_t span_count, span_capacity;
    struct col_dwarf_row row;
};

/* A walk through a unit: around each entry that is open, the inlined call. */
struct walk {
    struct col_dwarf *dwarf;
    const struct col_dwarf_unit *unit;
    const struct col_dwarf_abbreviations *table;
    struct col_dwarf_bases bases;
    struct col_dwarf_cursor cursor;
    uint32_t around[MOST_DEPTH];
    uint32_t depth;
    uint32_t node; /* whose ranges are taken */
};

struct col_dwarf *col_dwarf_open(const struct col_dwarf_bytes sections[COL_DWARF_SECTIONS],
                                 const struct col_dwarf_bytes *supplement, uint64_t lowest)
{
    struct col_dwarf *dwarf = calloc(1, sizeof *dwarf);
    if (!dwarf)
        return NULL;
    memcpy(dwarf->file.sections, sections, sizeof dwarf->file.sections);
    dwarf->lowest = lowest;
    dwarf->has_supplement = supplement != NULL;
    if (supplement)
        memcpy(dwarf->supplement.sections, supplement, sizeof dwarf->supplement.sections);
    if (col_dwarf_index_units(&dwarf->file) == 0 && col_dwarf_index_units(&dwarf->supplement) == 0)
        return dwarf;
    col_dwarf_close(dwarf);
    return NULL;
}

void col_dwarf_set_split(struct col_dwarf *dwarf, uint64_t addresses, uint64_t strings, uint64_t ranges, uint64_t code)
{
    dwarf->file.is_split = true;
    dwarf->file.split =
        (struct col_dwarf_bases){.addresses = addresses, .strings = strings, .ranges = ranges, .code = code};
}

int col_dwarf_hold(struct col_dwarf *dwarf, const uint64_t *offsets, size_t count)
{
    return col_dwarf_hold_units(&dwarf->file, offsets, count);
}

void col_dwarf_close(struct col_dwarf *dwarf)
{
    col_dwarf_free_file(&dwarf->file);
    col_dwarf_free_file(&dwarf->supplement);
    col_dwarf_free_functions(&dwarf->functions);
    free(dwarf->nodes.parents);
    free(dwarf->nodes.functions);
    free(dwarf->nodes.call_files);
    free(dwarf->nodes.call_lines);
    free(dwarf->spans);
    free(dwarf->row.starts);
    free(dwarf->row.nodes);
    free(dwarf);
}

static bool reserve_node(struct nodes *nodes)
{
    size_t count = nodes->count + 1;
    return count < COL_DWARF_NOTHING && COL_ARRAY_RESERVE(nodes->parents, nodes->parent_capacity, count) &&
           COL_ARRAY_RESERVE(nodes->functions, nodes->function_capacity, count) &&
           COL_ARRAY_RESERVE(nodes->call_files, nodes->file_capacity, count) &&
           COL_ARRAY_RESERVE(nodes->call_lines, nodes->line_capacity, count);
}

static bool take_span(void *context, uint64_t low, uint64_t high)
{
    struct walk *walk = context;
    struct col_dwarf *dwarf = walk->dwarf;
    if (low >= high || low < dwarf->lowest)
        return true;
    if (!COL_ARRAY_RESERVE(dwarf->spans, dwarf->span_capacity, dwarf->span_count + 1))
        return false;
    dwarf->spans[dwarf->span_count++] = (struct col_dwarf_span){low, high, walk->node, walk->depth};
    return true;
}

/* Makes a node of an inlined call, if it has code: *node is that, or what is around it. */
static int add_call(struct walk *walk, const struct col_dwarf_entry *entry, uint32_t *node)
{
    struct col_dwarf *dwarf = walk->dwarf;
    struct nodes *nodes = &dwarf->nodes;
    size_t spans = dwarf->span_count;
    uint32_t function;
    walk->node = (uint32_t)nodes->count;
    if (!col_dwarf_each_range(&dwarf->file, walk->unit, &walk->bases, entry, take_span, walk))
        return dwarf->file.work == 0 ? -EBADMSG : -ENOMEM;
    if (dwarf->span_count == spans)
        return 0;
    int status =
        col_dwarf_find_function(&dwarf->functions, &dwarf->file, dwarf->has_supplement ? &dwarf->supplement : NULL,
                                walk->unit, entry, &function);
    if (status != 0 || !reserve_node(nodes))
        return status ? status : -ENOMEM;
    nodes->parents[nodes->count] = *node;
    nodes->functions[nodes->count] = function;
    nodes->call_files[nodes->count] = col_dwarf_file_number(&entry->call_file);
    nodes->call_lines[nodes->count] = col_dwarf_line(entry->call_line);
    *node = (uint32_t)nodes->count++;
    return 0;
}

static int walk_entries(struct walk *walk)
{
    struct col_dwarf_entry entry;
    walk->around[0] = COL_DWARF_NOTHING;
    while (walk->cursor.at < walk->cursor.end) {
        if (!col_dwarf_read_entry(&walk->cursor, walk->unit, walk->table, COL_DWARF_CALLS, &entry))
            return -EBADMSG;
        if (entry.tag == 0) {
            walk->depth -= walk->depth > 0;
            continue;
        }
        uint32_t node = walk->around[walk->depth];
        int status = 0;
        if (entry.tag == DW_TAG_subprogram)
            node = COL_DWARF_NOTHING;
        else if (entry.tag == DW_TAG_inlined_subroutine)
            status = add_call(walk, &entry, &node);
        if (status != 0)
            return status;
        if (!entry.has_children)
            continue;
        if (++walk->depth >= MOST_DEPTH)
            return -EBADMSG;
        walk->around[walk->depth] = node;
    }
    return 0;
}

static int walk_unit(struct col_dwarf *dwarf, const struct col_dwarf_unit *unit)
{
    struct walk walk = {.dwarf = dwarf, .unit = unit};
    struct col_dwarf_entry root = {0};
    struct col_dwarf_bytes entries = {dwarf->file.sections[COL_DWARF_INFO].start, unit->end};
    int status = col_dwarf_abbreviations_of(&dwarf->file, unit, &walk.table);
    if (status != 0)
        return status;
    walk.cursor = col_dwarf_at(entries, unit->entry);
    if (!col_dwarf_read_entry(&walk.cursor, unit, walk.table, COL_DWARF_ALL, &root))
        return -EBADMSG;
    walk.bases = col_dwarf_bases_of(&dwarf->file, &root);
    return root.has_children ? walk_entries(&walk) : 0;
}

int col_dwarf_inlines(struct col_dwarf *dwarf, uint64_t offset, struct col_inlines *inlines)
{
    const struct col_dwarf_unit *unit = col_dwarf_unit_around(&dwarf->file, offset);
    if (!unit || unit->offset != offset)
        return -EBADMSG;
    dwarf->nodes.count = dwarf->span_count = dwarf->file.missing_count = 0;
    col_dwarf_clear_functions(&dwarf->functions);
    int status = walk_unit(dwarf, unit);
    if (status != 0)
        return status;
    status = col_dwarf_write_names(&dwarf->functions, dwarf->has_supplement ? &dwarf->supplement : NULL);
    if (status != 0)
        return status;
    if (!col_dwarf_flatten(dwarf->spans, dwarf->span_count, &dwarf->row))
        return -ENOMEM;
    *inlines = (struct col_inlines){
        .starts = dwarf->row.starts,
        .nodes = dwarf->row.nodes,
        .start_count = dwarf->row.count,
        .parents = dwarf->nodes.parents,
        .functions = dwarf->nodes.functions,
        .call_files = dwarf->nodes.call_files,
        .call_lines = dwarf->nodes.call_lines,
        .node_count = dwarf->nodes.count,
        .names = dwarf->functions.names,
        .name_bytes = dwarf->functions.name_bytes,
        .declared_units = dwarf->functions.declared_units,
        .declared_files = dwarf->functions.declared_files,
        .declared_lines = dwarf->functions.declared_lines,
        .function_count = dwarf->functions.count,
        .missing = dwarf->file.missing,
        .missing_count = dwarf->file.missing_count,
    };
    return 0;
}
