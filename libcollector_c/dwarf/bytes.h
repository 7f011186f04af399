/* bytes.h -- numbers and strings of DWARF, taken one after the other; past the end everything is 0, and `is_bad`
 *
 * Source: DWARF 5, sections 7.4 to 7.6.
 */
#ifndef COL_DWARF_BYTES_H
#define COL_DWARF_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct col_dwarf_bytes {
    const uint8_t *start;
    size_t size;
};

struct col_dwarf_cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool is_bad;
};

static inline struct col_dwarf_cursor col_dwarf_at(struct col_dwarf_bytes bytes, uint64_t offset)
{
    bool is_inside = offset <= bytes.size && bytes.start;
    return (struct col_dwarf_cursor){is_inside ? bytes.start + offset : NULL,
                                     is_inside ? bytes.start + bytes.size : NULL, !is_inside};
}

static inline void col_dwarf_skip(struct col_dwarf_cursor *cursor, uint64_t count)
{
    if (count > (uint64_t)(cursor->end - cursor->at)) {
        cursor->is_bad = true;
        cursor->at = cursor->end;
    } else {
        cursor->at += count;
    }
}

/* A little-endian number of up to 8 bytes. */
static inline uint64_t col_dwarf_fixed(struct col_dwarf_cursor *cursor, unsigned count)
{
    uint64_t value = 0;
    if (count > (size_t)(cursor->end - cursor->at)) {
        col_dwarf_skip(cursor, count);
        return 0;
    }
    if (count == 4) { /* the commonest, in one load */
        uint32_t word;
        memcpy(&word, cursor->at, sizeof word);
        value = le32toh(word);
    } else {
        for (unsigned i = 0; i < count; i++)
            value |= (uint64_t)cursor->at[i] << (8 * i);
    }
    cursor->at += count;
    return value;
}

static inline uint64_t col_dwarf_uleb(struct col_dwarf_cursor *cursor)
{
    uint64_t value = 0;
    if (cursor->at < cursor->end && *cursor->at < 0x80)
        return *cursor->at++;
    for (unsigned shift = 0; cursor->at < cursor->end; shift += 7) {
        uint8_t byte = *cursor->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    cursor->is_bad = true;
    return 0;
}

static inline int64_t col_dwarf_sleb(struct col_dwarf_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; cursor->at < cursor->end;) {
        uint8_t byte = *cursor->at++;
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (!(byte & 0x80))
            return (int64_t)(shift < 64 && byte & 0x40 ? value | ~UINT64_C(0) << shift : value);
    }
    cursor->is_bad = true;
    return 0;
}

/* A string that ends inside; NULL if none does. */
static inline const char *col_dwarf_string(struct col_dwarf_cursor *cursor)
{
    const uint8_t *start = cursor->at;
    const uint8_t *zero = start < cursor->end ? memchr(start, 0, (size_t)(cursor->end - start)) : NULL;
    if (!zero) {
        cursor->is_bad = true;
        return NULL;
    }
    cursor->at = zero + 1;
    return (const char *)start;
}

#endif
