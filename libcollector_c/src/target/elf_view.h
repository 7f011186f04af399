/* elf_view.h -- an ELF file whose bytes lie in memory: where its code is */
#ifndef COL_TARGET_ELF_VIEW_H
#define COL_TARGET_ELF_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From anywhere, signal handlers included. Whatever the bytes are, nothing is read outside them. */

struct col_elf_view {
    const uint8_t *bytes;
    size_t size;
};

/* True for a 64-bit ELF file in this processor's order of bytes, with tables that lie inside it. */
bool col_elf_view_is_sound(const struct col_elf_view *view);
bool col_elf_view_is_relocatable(const struct col_elf_view *view);

/* The span of an image's PT_LOAD segments, from the page of the first; false if there is none. */
bool col_elf_view_segments(const struct col_elf_view *view, uint64_t *first, uint64_t *last);

/*
 * A relocatable file's executable sections laid out one behind the other, each at its alignment from the first: the bytes they take, and where in the file
 * that one begins. False if it has none.
 */
bool col_elf_view_lay_out_code(const struct col_elf_view *view, uint64_t *bytes, uint64_t *file_offset);

/* Executable sections that say where they are, one after the other: false when there are no more. `*index` begins at 0. */
bool col_elf_view_next_code(const struct col_elf_view *view, unsigned *index, uint64_t *start, uint64_t *end);

/* The address in the file of an object (not a function) of that name and size, from its symbol tables, hidden ones too; 0 if there is none. */
uint64_t col_elf_view_find_object(const struct col_elf_view *view, const char *name, uint64_t bytes);

#endif
