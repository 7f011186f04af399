/* units.h -- the units of a file's .debug_info, and what their entries say (DWARF 5, sections 7.5 and 2.17) */
#ifndef COL_DWARF_UNITS_H
#define COL_DWARF_UNITS_H

#include "abbreviations.h"
#include "sections.h"

#define COL_DWARF_NO_OFFSET UINT64_MAX

struct col_dwarf_unit {
    uint64_t offset;
    uint64_t end;
    uint64_t entry;                /* its first */
    uint64_t abbreviations_offset; /* in .debug_abbrev */
    unsigned version;
    unsigned offset_bytes;
};

/* What entries with indexes count from, and offsets of code: said by the unit's first entry. */
struct col_dwarf_bases {
    uint64_t code;
    uint64_t addresses;
    uint64_t strings;
    uint64_t ranges;
};

struct col_dwarf_file {
    struct col_dwarf_bytes sections[COL_DWARF_SECTIONS];
    bool is_split; /* a .dwo file: its units say none of what is in `split` */
    struct col_dwarf_bases split;
    uint64_t work; /* what may still be read: entries share lists and tables, but not so many that it would never end */
    struct col_dwarf_unit *units;
    size_t unit_count, unit_capacity;
    bool is_partial;   /* only these units are there; references to others are noted in `missing` */
    uint64_t *missing; /* offsets in .debug_info */
    size_t missing_count, missing_capacity;
    struct col_dwarf_abbreviations **tables; /* in the order of their offsets */
    size_t table_count, table_capacity;
};

/* A value as it is written. */
struct col_dwarf_value {
    uint32_t form; /* 0: the entry has no such attribute */
    uint64_t number;
    const char *text; /* of DW_FORM_string */
};

/* The attributes of an entry that are looked at here. */
struct col_dwarf_entry {
    uint32_t tag; /* 0: the end of a list of siblings */
    bool has_children;
    struct col_dwarf_value low, high, ranges, origin, specification, name, linkage_name;
    struct col_dwarf_value call_file, declared_file;
    uint64_t call_line, declared_line, declared_column, language;
    struct col_dwarf_value address_base, string_base, range_base;
};

/* Finds all units. 0, -ENOMEM. Damage ends the list. */
int col_dwarf_index_units(struct col_dwarf_file *file);
/* Takes the units at these offsets, which rise, for the only ones that are there. 0, -ENOMEM, -EBADMSG. */
int col_dwarf_hold_units(struct col_dwarf_file *file, const uint64_t *offsets, size_t count);
void col_dwarf_free_file(struct col_dwarf_file *file);

/* The unit that an offset lies in; NULL if none, or if it is not there. */
const struct col_dwarf_unit *col_dwarf_unit_around(const struct col_dwarf_file *file, uint64_t offset);

/* A unit's abbreviations, read once: into *table. 0, -ENOMEM, -EBADMSG. */
int col_dwarf_abbreviations_of(struct col_dwarf_file *file, const struct col_dwarf_unit *unit,
                               const struct col_dwarf_abbreviations **table);

enum col_dwarf_wanted { COL_DWARF_CALLS, COL_DWARF_NO_ATTRIBUTES, COL_DWARF_ALL };

/* Reads the next entry: its tag, and the attributes of functions and inlined calls, of none, or of any. False if it
   contradicts itself. */
bool col_dwarf_read_entry(struct col_dwarf_cursor *cursor, const struct col_dwarf_unit *unit,
                          const struct col_dwarf_abbreviations *table, enum col_dwarf_wanted wanted,
                          struct col_dwarf_entry *entry);

/* A value as a file's number, NOTHING if there is none; as a line, 0 if there is none. */
uint32_t col_dwarf_file_number(const struct col_dwarf_value *value);
uint32_t col_dwarf_line(uint64_t number);

struct col_dwarf_bases col_dwarf_bases_of(const struct col_dwarf_file *file, const struct col_dwarf_entry *root);

/* A value as text; NULL if it is none that can be read. `supplement` is where strings of the dwz file lie. */
const char *col_dwarf_text(const struct col_dwarf_file *file, const struct col_dwarf_file *supplement,
                           const struct col_dwarf_unit *unit, const struct col_dwarf_bases *bases,
                           const struct col_dwarf_value *value);

/* Calls take(context, low, high) for each range of code of an entry; false if it says so once, or there is no end to them. */
typedef bool col_dwarf_take_range(void *context, uint64_t low, uint64_t high);
bool col_dwarf_each_range(struct col_dwarf_file *file, const struct col_dwarf_unit *unit,
                          const struct col_dwarf_bases *bases, const struct col_dwarf_entry *entry,
                          col_dwarf_take_range *take, void *context);

#endif
