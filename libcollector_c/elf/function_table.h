/* function_table.h -- which function owns an address of a module: the table that collector/symbols/function_table.py keeps
 *
 * Nothing here trusts what it reads. Where a file is odd (-ENOTSUP), the reader in Python is to be asked: it knows every case.
 * Nothing is global: tables of different threads do not meet.
 */
#ifndef COL_ELF_FUNCTION_TABLE_H
#define COL_ELF_FUNCTION_TABLE_H

#include "code_range.h"
#include "symbols.h"

/* What symbol tables say: how many addresses have names; the names that may be those of pieces of functions; and other
   names of addresses, perhaps twice. Names follow each other, each with its NUL. */
struct col_function_names {
    size_t symbol_count;
    const char *pieces;
    size_t piece_bytes;
    const uint64_t *alias_starts;
    size_t alias_count;
    const char *aliases;
    size_t alias_bytes;
};

/* Stubs of the procedure linkage table, in any order. */
struct col_function_stubs {
    const uint64_t *starts;
    const uint64_t *sizes;
    size_t count;
    const char *names; /* each with its NUL */
    size_t name_bytes;
};

/* Disjoint pieces of code, ascending. name_offsets count into `names`, whose first is empty: that of no name. */
struct col_function_pieces {
    const uint64_t *starts;
    const uint64_t *ends;
    const uint64_t *function_starts;
    const uint32_t *name_offsets;
    size_t count;
    const char *names;
    size_t name_bytes;
};

struct col_functions;

struct col_functions *col_functions_open(void); /* NULL without memory */
void col_functions_close(struct col_functions *functions);

/* Reads the symbols of a module, first; the tables and the ranges of its code stay where they are until close, *names
   until the next call. 0, -ENOMEM, -ENOTSUP. */
int col_functions_read(struct col_functions *functions, struct col_symbol_table *tables, size_t table_count,
                       const struct col_code_range *code, size_t code_count, struct col_function_names *names);

/* The name of the symbol at an address, which has *bytes; NULL if there is none. */
const char *col_functions_name_at(const struct col_functions *functions, uint64_t address, size_t *bytes);

/* Lays symbols and stubs over what .eh_frame at `address` describes, once. Buffers stay until close. 0, -ENOMEM, -ENOTSUP. */
int col_functions_lay(struct col_functions *functions, const struct col_function_stubs *stubs,
                      const struct col_dwarf_bytes *frames, uint64_t address, struct col_function_pieces *pieces);

/* By address, the number of the piece that holds it, UINT32_MAX if none does. Pieces are disjoint and ascend. */
void col_functions_find(const uint64_t *starts, const uint64_t *ends, size_t count, const uint64_t *addresses,
                        size_t address_count, uint32_t *numbers);

#endif
