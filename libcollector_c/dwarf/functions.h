/* functions.h -- functions that were inlined: each is read once, wherever it is described */
#ifndef COL_DWARF_FUNCTIONS_H
#define COL_DWARF_FUNCTIONS_H

#include "units.h"

/* Of one unit's calls. Origins are a hash table of offsets, those of the supplement with the highest bit set. */
struct col_dwarf_functions {
    uint64_t *origins;
    uint32_t *numbers;
    size_t origin_capacity;
    uint64_t *declared_units;
    uint32_t *declared_files;
    uint32_t *declared_lines;
    size_t count, unit_capacity, file_capacity, line_capacity;
    struct col_dwarf_name {
        const char *text;
        struct col_dwarf_file *file; /* NULL: it is a linkage name, which says by itself what it is within */
        uint64_t offset;             /* of the entry that says so */
        size_t scope, scope_bytes;   /* what is before it, in `scopes` */
        bool is_ambiguous;           /* others of that name and file are declared at another line */
    } * texts;
    size_t text_capacity;
    char *scopes;
    size_t scope_bytes, scope_capacity;
    char *names;
    size_t name_bytes, name_capacity;
};

/* The number of the function that `entry`, of a unit of `file`, refers to as its origin. 0, -ENOMEM, -EBADMSG. */
int col_dwarf_find_function(struct col_dwarf_functions *functions, struct col_dwarf_file *file,
                            struct col_dwarf_file *supplement, const struct col_dwarf_unit *unit,
                            const struct col_dwarf_entry *entry, uint32_t *number);

/* What an entry or its origin says of a scope. */
struct col_dwarf_scope {
    const char *name;      /* NULL: none */
    uint64_t unit;         /* in whose line table the file counts; COL_DWARF_NO_OFFSET: unknown */
    uint32_t file;         /* COL_DWARF_NOTHING: unknown */
    uint32_t line, column; /* 0: unknown */
};

/* Reads the scope at an offset of a file. 0, -ENOMEM, -EBADMSG. */
int col_dwarf_describe_scope(struct col_dwarf_file *file, struct col_dwarf_file *supplement, uint64_t offset,
                             struct col_dwarf_scope *scope);

/* Puts the names together: of C++ and its like with the namespaces, classes and functions around them. 0, -ENOMEM, -EBADMSG. */
int col_dwarf_write_names(struct col_dwarf_functions *functions, struct col_dwarf_file *supplement);
void col_dwarf_clear_functions(struct col_dwarf_functions *functions);
void col_dwarf_free_functions(struct col_dwarf_functions *functions);

#endif
