/* name_blob.c -- names one after the other, found by their hashes */
#include "name_blob.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdlib.h>

enum { STEPS_A_NAME = 32, COMPARED_A_BYTE = 4, HASH_SHIFT = 32 };

static uint64_t hash_of(struct col_symbol_name name)
{
    uint64_t hash = name.bytes;
    for (uint32_t at = 0, step; at < name.bytes; at += step) {
        uint64_t word = 0;
        step = name.bytes - at < sizeof word ? name.bytes - at : (uint32_t)sizeof word;
        memcpy(&word, name.text + at, step);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> HASH_SHIFT;
    }
    return hash;
}

bool col_name_blob_append(struct col_name_blob *blob, struct col_symbol_name name)
{
    if (!COL_ARRAY_RESERVE(blob->text, blob->capacity, blob->bytes + name.bytes + 1))
        return false;
    memcpy(blob->text + blob->bytes, name.text, name.bytes);
    blob->bytes += name.bytes;
    blob->text[blob->bytes++] = '\0';
    return true;
}

int col_name_blob_begin(struct col_name_blob *blob, size_t names, uint64_t bytes)
{
    size_t slots = 2;
    while (slots / 2 < names)
        slots *= 2;
    blob->slots = calloc(slots, sizeof *blob->slots);
    blob->slot_count = slots;
    blob->work = STEPS_A_NAME * ((uint64_t)names + 1) + COMPARED_A_BYTE * bytes;
    return blob->slots && col_name_blob_append(blob, (struct col_symbol_name){"", 0}) ? 0 : -ENOMEM;
}

static bool spend(struct col_name_blob *blob, uint64_t work)
{
    if (work > blob->work)
        return false;
    blob->work -= work;
    return true;
}

/* Whether a name lies at an offset; all in the blob end inside. */
static bool is_at(const struct col_name_blob *blob, uint32_t offset, struct col_symbol_name name)
{
    return name.bytes < blob->bytes - offset && memcmp(blob->text + offset, name.text, name.bytes) == 0 &&
           blob->text[offset + name.bytes] == '\0';
}

int col_name_blob_find(struct col_name_blob *blob, struct col_symbol_name name, uint32_t *offset)
{
    uint64_t hash = hash_of(name), mark = hash >> HASH_SHIFT << HASH_SHIFT;
    size_t mask = blob->slot_count - 1, slot = (size_t)hash & mask;
    *offset = 0;
    if (name.bytes == 0)
        return 0;
    for (; blob->slots[slot] != 0; slot = (slot + 1) & mask) {
        uint64_t entry = blob->slots[slot];
        bool is_alike = entry >> HASH_SHIFT == hash >> HASH_SHIFT;
        if (!spend(blob, is_alike ? 1 + (uint64_t)name.bytes : 1))
            return -ENOTSUP;
        *offset = (uint32_t)entry;
        if (is_alike && is_at(blob, *offset, name))
            return 0;
    }
    if (blob->bytes > UINT32_MAX)
        return -ENOTSUP;
    *offset = (uint32_t)blob->bytes;
    if (!col_name_blob_append(blob, name))
        return -ENOMEM;
    blob->slots[slot] = mark | *offset;
    return 0;
}

void col_name_blob_free(struct col_name_blob *blob)
{
    free(blob->text);
    free(blob->slots);
}
