/* name_blob.h -- names one after the other, each with its NUL and each once */
#ifndef COL_ELF_NAME_BLOB_H
#define COL_ELF_NAME_BLOB_H

#include "symbol_name.h"

/* Zeroed memory is empty. */
struct col_name_blob {
    char *text;
    size_t bytes, capacity;
    uint64_t *slots; /* offsets of names, above them 32 bits of their hashes; 0: free */
    size_t slot_count;
    uint64_t work; /* so much may still be compared: files are made in which every name has the same hash */
};

/* Adds a name at the end, whether it is there or not. False without memory. */
bool col_name_blob_append(struct col_name_blob *blob, struct col_symbol_name name);

/* Makes room for so many different names of so many bytes in all, and adds the empty one. 0 or -ENOMEM. */
int col_name_blob_begin(struct col_name_blob *blob, size_t names, uint64_t bytes);

/* Finds a name, or adds it; *offset is where it is. 0, -ENOMEM, or -ENOTSUP if that takes too much work or room. */
int col_name_blob_find(struct col_name_blob *blob, struct col_symbol_name name, uint32_t *offset);

void col_name_blob_free(struct col_name_blob *blob);

#endif
