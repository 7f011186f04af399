/* changed_sections.h -- sections of files that programs of this folder change at random places, the same ones for the same seed */
#ifndef CHANGED_SECTIONS_H
#define CHANGED_SECTIONS_H

#include "dwarf/bytes.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t state; /* begins as the seed */

static size_t below(size_t limit)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (size_t)(state >> 24) % limit;
}

static struct col_dwarf_bytes read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        abort();
    size_t size = (size_t)ftell(file);
    uint8_t *bytes = malloc(size + !size); /* as large as it is, so that nothing lies behind it */
    rewind(file);
    if (!bytes || fread(bytes, 1, size, file) != size)
        abort();
    fclose(file);
    return (struct col_dwarf_bytes){bytes, size};
}

#endif
