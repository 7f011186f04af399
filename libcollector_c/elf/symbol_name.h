/* symbol_name.h -- the name of a symbol, where it lies in the strings of its table */
#ifndef COL_ELF_SYMBOL_NAME_H
#define COL_ELF_SYMBOL_NAME_H

#include "../dwarf/bytes.h"

/* Not ended by a NUL, and without one. */
struct col_symbol_name {
    const char *text;
    uint32_t bytes;
};

/* The name at an offset; empty outside, and cut where it is longer than any compiler makes it. */
struct col_symbol_name col_symbol_name_at(struct col_dwarf_bytes strings, uint32_t offset);

/* memcpy@@GLIBC_2.14 is memcpy. */
struct col_symbol_name col_symbol_name_without_version(struct col_symbol_name name);

/* False if the name is not UTF-8. */
bool col_symbol_name_characters(struct col_symbol_name name, uint32_t *count);

uint32_t col_symbol_name_underscores(struct col_symbol_name name); /* those it begins with */

bool col_symbol_name_equals(struct col_symbol_name one, struct col_symbol_name other);

#endif
