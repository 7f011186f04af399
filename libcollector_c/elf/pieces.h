/* pieces.h -- which function owns which code: symbols laid over unwind entries, as disjoint pieces
 *
 * collector/symbols/function_table.py says the same in Python, and why.
 */
#ifndef COL_ELF_PIECES_H
#define COL_ELF_PIECES_H

#include "symbols.h"

#define COL_PIECE_NAMELESS UINT32_MAX

/* [start, end) belongs to the function that begins at function_start; `symbol` is its number, or NAMELESS. */
struct col_piece {
    uint64_t start;
    uint64_t end;
    uint64_t function_start;
    uint32_t symbol;
};

/* Zeroed memory is empty. */
struct col_pieces {
    struct col_piece *items;
    size_t count, capacity;
};

/* Symbols rise, and so do the ranges of unwind entries and of code, which do not overlap. 0 or -ENOMEM. */
int col_pieces_lay(struct col_pieces *pieces, const struct col_symbol *symbols, size_t symbol_count,
                   const struct col_code_ranges *frames, const struct col_code_range *code, size_t code_count);

#endif
