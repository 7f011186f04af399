/* inlines.h -- which calls a compiler inlined where: read from .debug_info, unit by unit
 *
 * Nothing here trusts what it reads. Sections are the caller's and stay where they are until col_dwarf_close. Nothing is
 * global: readers of different threads do not meet.
 */
#ifndef COL_DWARF_INLINES_H
#define COL_DWARF_INLINES_H

#include "sections.h"

/* Code from starts[i] up to the next start belongs to the call nodes[i]; NOTHING: to the function itself. By node: the
   call it stands in (a smaller number, or NOTHING), the function that was called, and where: the file's number in
   the unit's line table (NOTHING: not known), and the line (0: not known). By function: its name (`names`: one after the other, each with its
   NUL), and where it is declared; declared_units is the offset of the unit in whose line table the file counts,
   UINT64_MAX: of none in this file. Buffers stay until the next call. */
struct col_inlines {
    const uint64_t *starts;
    const uint32_t *nodes;
    size_t start_count;
    const uint32_t *parents;
    const uint32_t *functions;
    const uint32_t *call_files;
    const uint32_t *call_lines;
    size_t node_count;
    const char *names;
    size_t name_bytes;
    const uint64_t *declared_units;
    const uint32_t *declared_files;
    const uint32_t *declared_lines;
    size_t function_count;
    const uint64_t
        *missing; /* offsets of what was referred to in units that are not there; what they say is missing too */
    size_t missing_count;
};

struct col_dwarf;

/* `supplement` are the sections of the file that dwz made for several others; NULL: there is none. No code lies below
   `lowest`: what is said to begin there was thrown away by the linker. NULL without memory. */
struct col_dwarf *col_dwarf_open(const struct col_dwarf_bytes sections[COL_DWARF_SECTIONS],
                                 const struct col_dwarf_bytes *supplement, uint64_t lowest);
/* The sections are those of a .dwo file, but for addresses and old ranges. What its numbers count from stands in its skeleton: offsets in the
   sections of addresses, strings and ranges, and the address that ranges are relative to. */
void col_dwarf_set_split(struct col_dwarf *dwarf, uint64_t addresses, uint64_t strings, uint64_t ranges, uint64_t code);
void col_dwarf_close(struct col_dwarf *dwarf);

/* Of .debug_info only the units at these offsets, which rise, have been read to where they belong. To be called again when those change.
   0, -ENOMEM, -EBADMSG. */
int col_dwarf_hold(struct col_dwarf *dwarf, const uint64_t *offsets, size_t count);

/* Reads the unit whose header is at `offset` of .debug_info. 0, -ENOMEM, or -EBADMSG if it contradicts itself. */
int col_dwarf_inlines(struct col_dwarf *dwarf, uint64_t offset, struct col_inlines *inlines);

#endif
