/* module_identity.h -- what tells a loaded object from another file at its path: its build id, or a checksum of its code */
#ifndef COL_TARGET_MODULE_IDENTITY_H
#define COL_TARGET_MODULE_IDENTITY_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct col_module_object {
    uintptr_t low, high, bias;
    const char *path;
    uintptr_t dynamic; /* its dynamic section, 0: it has none */
    uint8_t build_id[64];
    size_t build_id_bytes;
    uint32_t text_checksum;
    bool has_text;
};

/* Fills in the last five by the object's program headers, which can be read. Signal-safe, as is the other. */
void col_module_identity_read(struct col_module_object *object, const ElfW(Phdr) * segments, size_t count);

/* The same by the headers that the ELF header in front of the object leads to, if one is there. */
void col_module_identity_find(struct col_module_object *object);

#endif
