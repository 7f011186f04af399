/* sections.h -- the sections that tell what was inlined */
#ifndef COL_DWARF_SECTIONS_H
#define COL_DWARF_SECTIONS_H

#include "bytes.h"

#define COL_DWARF_NOTHING UINT32_MAX

enum col_dwarf_section {
    COL_DWARF_INFO,
    COL_DWARF_ABBREV,
    COL_DWARF_STR,
    COL_DWARF_LINE_STR,
    COL_DWARF_STR_OFFSETS,
    COL_DWARF_ADDR,
    COL_DWARF_RANGES,
    COL_DWARF_RNGLISTS,
    COL_DWARF_SECTIONS
};

#endif
