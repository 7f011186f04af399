/* symbols.h -- functions as .symtab and .dynsym list them, and which of several names of one address is shown
 *
 * collector/symbols/symbol_source.py says the same in Python, and why.
 */
#ifndef COL_ELF_SYMBOLS_H
#define COL_ELF_SYMBOLS_H

#include "code_range.h"
#include "symbol_name.h"

/* A symbol table beside its strings. The names that are read, together, may have `room` bytes; that is counted down. */
struct col_symbol_table {
    struct col_dwarf_bytes entries;
    struct col_dwarf_bytes strings;
    uint64_t room;
};

struct col_symbol {
    uint64_t start;
    uint64_t size; /* 0: the table does not say */
    struct col_symbol_name name;
    uint8_t is_label;
};

struct col_symbol_alias {
    uint64_t start;
    struct col_symbol_name name;
};

/* One symbol for each address in code, ascending; `aliases` are the other names of these addresses, ascending as well,
   the same name perhaps twice. Zeroed memory is empty. */
struct col_symbols {
    struct col_symbol *items;
    size_t count, capacity;
    struct col_symbol_alias *aliases;
    size_t alias_count, alias_capacity;
};

/* 0, -ENOMEM, or -ENOTSUP if names are not UTF-8 or take more than the room. */
int col_symbols_read(struct col_symbols *symbols, struct col_symbol_table *tables, size_t table_count,
                     const struct col_code_range *code, size_t code_count);

void col_symbols_free(struct col_symbols *symbols);

#endif
