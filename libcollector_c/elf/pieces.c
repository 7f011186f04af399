/* pieces.c -- from symbols to extents that may nest, from those to a flat row, and the rest of unwind entries between */
#include "pieces.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdlib.h>

enum { FRAME_DUMMY_BYTES = 16 }; /* one jump of crtbegin.o and its padding */

/* What is known around addresses that rise. */
struct around {
    const struct col_code_range *ranges;
    size_t count;
    size_t next; /* the first that does not begin before the address */
};

/* The pile of extents that are open at a position. */
struct flattening {
    const struct col_piece **open;
    size_t height;
    uint64_t position;
    struct col_pieces *flat;
};

static uint64_t lower(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

static bool add(struct col_pieces *pieces, uint64_t start, uint64_t end, uint64_t function_start, uint32_t symbol)
{
    if (!COL_ARRAY_RESERVE(pieces->items, pieces->capacity, pieces->count + 1))
        return false;
    pieces->items[pieces->count++] = (struct col_piece){start, end, function_start, symbol};
    return true;
}

/* The range that holds the address; NULL if none does. */
static const struct col_code_range *find_around(struct around *around, uint64_t address)
{
    while (around->next < around->count && around->ranges[around->next].start < address)
        around->next++;
    if (around->next < around->count && around->ranges[around->next].start == address)
        return &around->ranges[around->next];
    const struct col_code_range *before = around->next > 0 ? &around->ranges[around->next - 1] : NULL;
    return before && address < before->end ? before : NULL;
}

static bool is_start_of_symbol(const struct col_symbol *symbols, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols[middle].start < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && symbols[low].start == address;
}

/* Writes down which symbols count as functions; gives their number. A label inside a function that has a name of its own
   is a jump target. */
static size_t choose_functions(const struct col_symbol *symbols, size_t count, const struct col_code_ranges *frames,
                               uint32_t *chosen)
{
    struct around around = {frames->items, frames->count, 0};
    uint64_t sized_end = 0;
    size_t chosen_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct col_symbol *symbol = &symbols[i];
        if (symbol->is_label && symbol->size == 0) {
            const struct col_code_range *frame = find_around(&around, symbol->start);
            bool is_inner = frame && frame->start < symbol->start && is_start_of_symbol(symbols, i, frame->start);
            if (symbol->start < sized_end || is_inner)
                continue;
        }
        uint64_t end = col_code_end(symbol->start, symbol->size);
        sized_end = end > sized_end ? end : sized_end;
        chosen[chosen_count++] = (uint32_t)i;
    }
    return chosen_count;
}

/* The compiler's own frame_dummy has neither size nor unwind entry, and the program's first object file follows it:
   what that leaves without symbols, as GHC does, is not frame_dummy's. */
static uint64_t limit_of_frame_dummy(const struct col_symbol *symbol)
{
    bool is_it = col_symbol_name_equals(symbol->name, (struct col_symbol_name){"frame_dummy", 11});
    return is_it ? col_code_end(symbol->start, FRAME_DUMMY_BYTES) : UINT64_MAX;
}

/* Where a function ends when nothing but unwind entries and what follows is asked. */
static uint64_t end_of(const struct col_symbol *symbol, uint64_t following, struct around *frames)
{
    const struct col_code_range *frame = find_around(frames, symbol->start);
    uint64_t end = col_code_end(symbol->start, symbol->size);
    if (symbol->size > 0) {
        bool is_longer = frame && frame->start == symbol->start && end < frame->end;
        uint64_t longer = is_longer ? lower(frame->end, following) : 0; /* hand-written sizes may be too small */
        return longer > end ? longer : end;
    }
    following = lower(following, limit_of_frame_dummy(symbol));
    if (frame)
        return lower(frame->end, following);
    return frames->next < frames->count ? lower(following, frames->ranges[frames->next].start) : following;
}

static bool find_extents(struct col_pieces *extents, const struct col_symbol *symbols, const uint32_t *chosen,
                         size_t count, const struct col_code_ranges *frames, struct around code)
{
    struct around around = {frames->items, frames->count, 0};
    for (size_t i = 0; i < count; i++) {
        const struct col_symbol *symbol = &symbols[chosen[i]];
        uint64_t following = i + 1 < count ? symbols[chosen[i + 1]].start : UINT64_MAX;
        uint64_t end = end_of(symbol, following, &around);
        const struct col_code_range *section = find_around(&code, symbol->start);
        end = lower(end, section ? section->end : symbol->start);
        if (!add(extents, symbol->start, end, symbol->start, chosen[i]))
            return false;
    }
    return true;
}

/* Goes on to `limit`: what is on top of the pile owns the code, until it ends. */
static bool advance(struct flattening *state, uint64_t limit)
{
    while (state->height > 0 && state->position < limit) {
        const struct col_piece *top = state->open[state->height - 1];
        uint64_t stop = lower(top->end, limit);
        if (stop > state->position) {
            if (!add(state->flat, state->position, stop, top->function_start, top->symbol))
                return false;
            state->position = stop;
        }
        if (top->end <= limit)
            state->height--;
    }
    return true;
}

/* Cuts extents that may nest, so that each address is in the innermost one only. */
static bool flatten(const struct col_pieces *extents, struct col_pieces *flat)
{
    struct flattening state = {.flat = flat};
    bool is_done = true;
    state.open = calloc(extents->count + 1, sizeof(const struct col_piece *));
    if (!state.open)
        return false;
    for (size_t i = 0; is_done && i < extents->count; i++) {
        const struct col_piece *current = &extents->items[i];
        is_done = advance(&state, current->start);
        if (state.position < current->start)
            state.position = current->start;
        state.open[state.height++] = current;
    }
    is_done = is_done && advance(&state, UINT64_MAX);
    free(state.open);
    return is_done;
}

/* Adds one unwind entry: the named pieces in it and the rest between, which is nameless. *next is the first piece that was not yet added. */
static bool add_frame(struct col_pieces *filled, struct col_code_range frame, const struct col_pieces *named,
                      size_t *next)
{
    uint64_t position = frame.start;
    for (; *next < named->count && named->items[*next].start < frame.end; ++*next) {
        const struct col_piece *piece = &named->items[*next];
        if (position < piece->start && !add(filled, position, piece->start, frame.start, COL_PIECE_NAMELESS))
            return false;
        position = piece->end;
        if (position > frame.end)
            return true;
        if (!add(filled, piece->start, piece->end, piece->function_start, piece->symbol))
            return false;
    }
    return position >= frame.end || add(filled, position, frame.end, frame.start, COL_PIECE_NAMELESS);
}

/* Adds the named pieces that end by `end`. */
static bool add_until(struct col_pieces *filled, const struct col_pieces *named, size_t *next, uint64_t end)
{
    for (; *next < named->count && named->items[*next].end <= end; ++*next) {
        const struct col_piece *piece = &named->items[*next];
        if (!add(filled, piece->start, piece->end, piece->function_start, piece->symbol))
            return false;
    }
    return true;
}

static bool fill(struct col_pieces *filled, const struct col_pieces *named, const struct col_code_ranges *frames)
{
    size_t next = 0;
    filled->count = 0;
    for (size_t i = 0; i < frames->count; i++)
        if (!add_until(filled, named, &next, frames->items[i].start) ||
            !add_frame(filled, frames->items[i], named, &next))
            return false;
    return add_until(filled, named, &next, UINT64_MAX);
}

int col_pieces_lay(struct col_pieces *pieces, const struct col_symbol *symbols, size_t symbol_count,
                   const struct col_code_ranges *frames, const struct col_code_range *code, size_t code_count)
{
    struct col_pieces extents = {0}, flat = {0};
    uint32_t *chosen = symbol_count < COL_PIECE_NAMELESS ? calloc(symbol_count + 1, sizeof *chosen) : NULL;
    size_t count = chosen ? choose_functions(symbols, symbol_count, frames, chosen) : 0;
    bool is_done = chosen &&
                   find_extents(&extents, symbols, chosen, count, frames, (struct around){code, code_count, 0}) &&
                   flatten(&extents, &flat) && fill(pieces, &flat, frames);
    free(chosen);
    free(extents.items);
    free(flat.items);
    return is_done ? 0 : -ENOMEM;
}
