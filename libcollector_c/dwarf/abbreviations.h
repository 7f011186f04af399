/* abbreviations.h -- what entries of a unit look like: tags, and attributes with their forms (DWARF 5, section 7.5.3) */
#ifndef COL_DWARF_ABBREVIATIONS_H
#define COL_DWARF_ABBREVIATIONS_H

#include "bytes.h"

struct col_dwarf_attribute {
    uint16_t name;
    uint16_t form;
    int8_t bytes[2];  /* of a value, with offsets of 4 and of 8 bytes: col_dwarf_form_bytes */
    int64_t constant; /* of DW_FORM_implicit_const */
};

/* What is passed over at once in an entry that nobody asks for: bytes, with offsets of 4 and of 8 bytes, then a value of `form`, whose length
   it says itself; 0 at the end of the entry. */
struct col_dwarf_step {
    uint32_t bytes[2];
    uint16_t form;
};

struct col_dwarf_abbreviation {
    uint64_t code;
    uint32_t tag;
    bool has_children;
    uint32_t first; /* attribute */
    uint32_t count;
    uint32_t first_step; /* the last one has no form */
};

struct col_dwarf_abbreviations {
    uint64_t offset; /* in .debug_abbrev */
    struct col_dwarf_abbreviation *items;
    size_t count, capacity;
    struct col_dwarf_attribute *attributes;
    size_t attribute_count, attribute_capacity;
    struct col_dwarf_step *steps;
    size_t step_count, step_capacity;
};

/* Reads a table. 0, -ENOMEM, or -EBADMSG; *work is what may still be read, and becomes less. */
int col_dwarf_read_abbreviations(struct col_dwarf_bytes section, uint64_t offset, uint64_t *work,
                                 struct col_dwarf_abbreviations *table);
void col_dwarf_free_abbreviations(struct col_dwarf_abbreviations *table);

/* Finds one abbreviation of a table without reading the rest: copies up to `room` attributes. Returns how many it has, or -EBADMSG;
   *read_bytes is what that took. */
int col_dwarf_find_abbreviation(const struct col_dwarf_bytes *section, uint64_t offset, uint64_t code,
                                struct col_dwarf_attribute *attributes, size_t room, uint64_t *read_bytes);

/* NULL if there is none of that code. */
const struct col_dwarf_abbreviation *col_dwarf_abbreviation(const struct col_dwarf_abbreviations *table, uint64_t code);

#endif
