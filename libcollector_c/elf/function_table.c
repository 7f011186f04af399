/* function_table.c -- symbols, then stubs and unwind entries, then the table of all */
#include "function_table.h"

#include "frames.h"
#include "name_blob.h"
#include "pieces.h"
#include "sort.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdlib.h>

struct col_functions {
    const struct col_code_range *code;
    size_t code_count;
    struct col_symbols symbols;
    struct col_name_blob piece_names, alias_names, names;
    uint64_t *alias_starts;
    struct col_symbol *all; /* with the stubs */
    size_t all_count;
    struct col_code_ranges frames;
    struct col_pieces pieces;
    uint64_t *starts, *ends, *function_starts;
    uint32_t *name_offsets;
};

struct col_functions *col_functions_open(void)
{
    return calloc(1, sizeof(struct col_functions));
}

void col_functions_close(struct col_functions *functions)
{
    col_symbols_free(&functions->symbols);
    col_name_blob_free(&functions->piece_names);
    col_name_blob_free(&functions->alias_names);
    col_name_blob_free(&functions->names);
    free(functions->alias_starts);
    free(functions->all);
    free(functions->frames.items);
    free(functions->pieces.items);
    free(functions->starts);
    free(functions->ends);
    free(functions->function_starts);
    free(functions->name_offsets);
    free(functions);
}

static bool overlap(const struct col_code_range *code, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (code[i].start < code[i - 1].end)
            return true;
    return false;
}

/* Compilers name pieces of functions f.cold, f.localalias or by a number at the end, f.part.0, in whatever script. */
static bool may_be_piece(struct col_symbol_name name)
{
    char last = name.bytes > 0 ? name.text[name.bytes - 1] : 'f';
    return ((unsigned char)last >= 0x80 || strchr("0123456789ds\n", last)) && memchr(name.text, '.', name.bytes);
}

/* Writes the names down that tell which symbol is a piece of which function. */
static bool write_names(struct col_functions *functions)
{
    const struct col_symbols *symbols = &functions->symbols;
    functions->alias_starts = calloc(symbols->alias_count + 1, sizeof *functions->alias_starts);
    bool is_done = functions->alias_starts != NULL;
    for (size_t i = 0; is_done && i < symbols->count; i++)
        if (may_be_piece(symbols->items[i].name))
            is_done = col_name_blob_append(&functions->piece_names, symbols->items[i].name);
    for (size_t i = 0; is_done && i < symbols->alias_count; i++) {
        functions->alias_starts[i] = symbols->aliases[i].start;
        is_done = col_name_blob_append(&functions->alias_names, symbols->aliases[i].name);
    }
    return is_done;
}

int col_functions_read(struct col_functions *functions, struct col_symbol_table *tables, size_t table_count,
                       const struct col_code_range *code, size_t code_count, struct col_function_names *names)
{
    if (overlap(code, code_count))
        return -ENOTSUP;
    functions->code = code;
    functions->code_count = code_count;
    int status = col_symbols_read(&functions->symbols, tables, table_count, code, code_count);
    if (status == 0 && !write_names(functions))
        status = -ENOMEM;
    if (status != 0)
        return status;
    *names = (struct col_function_names){
        .symbol_count = functions->symbols.count,
        .pieces = functions->piece_names.text,
        .piece_bytes = functions->piece_names.bytes,
        .alias_starts = functions->alias_starts,
        .alias_count = functions->symbols.alias_count,
        .aliases = functions->alias_names.text,
        .alias_bytes = functions->alias_names.bytes,
    };
    return 0;
}

const char *col_functions_name_at(const struct col_functions *functions, uint64_t address, size_t *bytes)
{
    size_t low = 0, high = functions->symbols.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (functions->symbols.items[middle].start < address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == functions->symbols.count || functions->symbols.items[low].start != address)
        return NULL;
    *bytes = functions->symbols.items[low].name.bytes;
    return functions->symbols.items[low].name.text;
}

/* The stubs as symbols, in the order in which they came; false if their names are too few or too long. */
static bool read_stubs(const struct col_function_stubs *stubs, struct col_symbol *symbols)
{
    const char *at = stubs->names;
    size_t left = stubs->name_bytes;
    for (size_t i = 0; i < stubs->count; i++) {
        const char *end = left ? memchr(at, 0, left) : NULL;
        if (!end || end - at > INT32_MAX)
            return false;
        symbols[i] =
            (struct col_symbol){.start = stubs->starts[i], .size = stubs->sizes[i], .name = {at, (uint32_t)(end - at)}};
        left -= (size_t)(end + 1 - at);
        at = end + 1;
    }
    return true;
}

/* Puts symbols and stubs into one row; a symbol goes before a stub at its address. */
static void merge(struct col_functions *functions, const struct col_symbol *stubs, const struct col_keyed *order,
                  size_t stub_count)
{
    const struct col_symbols *symbols = &functions->symbols;
    size_t next = 0;
    for (size_t i = 0; i < stub_count; i++) {
        while (next < symbols->count && symbols->items[next].start < order[i].key)
            functions->all[functions->all_count++] = symbols->items[next++];
        if (next == symbols->count || symbols->items[next].start != order[i].key)
            functions->all[functions->all_count++] = stubs[order[i].value];
    }
    while (next < symbols->count)
        functions->all[functions->all_count++] = symbols->items[next++];
}

static int add_stubs(struct col_functions *functions, const struct col_function_stubs *stubs)
{
    struct col_symbol *found = calloc(stubs->count + 1, sizeof *found);
    struct col_keyed *order = calloc(stubs->count + 1, sizeof *order);
    functions->all = calloc(functions->symbols.count + stubs->count + 1, sizeof *functions->all);
    int status = found && order && functions->all ? 0 : -ENOMEM;
    if (status == 0 && !read_stubs(stubs, found))
        status = -ENOTSUP;
    for (size_t i = 0; status == 0 && i < stubs->count; i++)
        order[i] = (struct col_keyed){found[i].start, i};
    if (status == 0) {
        col_sort_keyed(order, stubs->count);
        merge(functions, found, order, stubs->count);
    }
    free(found);
    free(order);
    return status;
}

static int begin_names(struct col_functions *functions)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < functions->all_count; i++)
        bytes += functions->all[i].name.bytes;
    return col_name_blob_begin(&functions->names, functions->all_count, bytes);
}

static bool make_arrays(struct col_functions *functions)
{
    size_t count = functions->pieces.count + 1;
    functions->starts = calloc(count, sizeof *functions->starts);
    functions->ends = calloc(count, sizeof *functions->ends);
    functions->function_starts = calloc(count, sizeof *functions->function_starts);
    functions->name_offsets = calloc(count, sizeof *functions->name_offsets);
    return functions->starts && functions->ends && functions->function_starts && functions->name_offsets;
}

/* Names are written in the order of the pieces, each where it is met first. */
static int write_pieces(struct col_functions *functions)
{
    uint32_t *offsets = calloc(functions->all_count + 1, sizeof *offsets); /* by symbol; 0: not yet */
    int status = offsets && make_arrays(functions) ? begin_names(functions) : -ENOMEM;
    for (size_t i = 0; status == 0 && i < functions->pieces.count; i++) {
        const struct col_piece *piece = &functions->pieces.items[i];
        functions->starts[i] = piece->start;
        functions->ends[i] = piece->end;
        functions->function_starts[i] = piece->function_start;
        if (piece->symbol == COL_PIECE_NAMELESS)
            continue;
        if (offsets[piece->symbol] == 0)
            status = col_name_blob_find(&functions->names, functions->all[piece->symbol].name, &offsets[piece->symbol]);
        functions->name_offsets[i] = offsets[piece->symbol];
    }
    free(offsets);
    return status;
}

int col_functions_lay(struct col_functions *functions, const struct col_function_stubs *stubs,
                      const struct col_dwarf_bytes *frames, uint64_t address, struct col_function_pieces *pieces)
{
    int status = col_frames_read(*frames, address, &functions->frames);
    if (status == 0)
        status = add_stubs(functions, stubs);
    if (status != 0)
        return status;
    col_frames_clip(&functions->frames, functions->code, functions->code_count);
    status = col_pieces_lay(&functions->pieces, functions->all, functions->all_count, &functions->frames,
                            functions->code, functions->code_count);
    if (status == 0)
        status = write_pieces(functions);
    if (status != 0)
        return status;
    *pieces = (struct col_function_pieces){
        .starts = functions->starts,
        .ends = functions->ends,
        .function_starts = functions->function_starts,
        .name_offsets = functions->name_offsets,
        .count = functions->pieces.count,
        .names = functions->names.text,
        .name_bytes = functions->names.bytes,
    };
    return 0;
}

/* The last piece that begins at an address or before it; `count` if there is none. */
static size_t piece_before(const uint64_t *starts, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (starts[middle] <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : count;
}

void col_functions_find(const uint64_t *starts, const uint64_t *ends, size_t count, const uint64_t *addresses,
                        size_t address_count, uint32_t *numbers)
{
    size_t piece = count;
    for (size_t i = 0; i < address_count; i++) { /* many follow one of the same piece */
        uint64_t address = addresses[i];
        if (piece == count || address < starts[piece] || address >= ends[piece])
            piece = piece_before(starts, count, address);
        numbers[i] = piece < count && address < ends[piece] ? (uint32_t)piece : UINT32_MAX;
    }
}
