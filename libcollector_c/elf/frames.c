/* frames.c -- one walk over .eh_frame: each FDE covers one piece of one function */
#include "frames.h"

#include "sort.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdlib.h>

enum {
    PCREL_SDATA4 = 0x1b,
    ABSOLUTE = 0x00,
    OMITTED = 0xff,
    FORMAT = 0x0f,
    SIGNED = 0x08,
    RELATION = 0x70,
    PCREL = 0x10,
    LONGEST_AUGMENTATION = 16,
    LONGEST_LEB = 11,
    LEAST_CIE = 9,
    ENTRY_BYTES = 16,
};

struct walk {
    struct col_dwarf_bytes section;
    uint64_t address;
    uint64_t cie; /* whose `encoding` it is */
    uint8_t encoding;
    struct col_keyed *found; /* starts, with their ends */
    size_t count, capacity;
};

/* How many bytes a pointer has; 0: cannot be told. */
static unsigned pointer_bytes(uint8_t encoding)
{
    static const uint8_t sizes[] = {[0x0] = 8, [0x2] = 2, [0x3] = 4, [0x4] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8};
    unsigned format = encoding & FORMAT;
    return format < sizeof sizes ? sizes[format] : 0;
}

static void skip_leb(struct col_dwarf_cursor *cursor)
{
    for (int i = 0; i < LONGEST_LEB; i++)
        if (!(col_dwarf_fixed(cursor, 1) & 0x80))
            return;
    cursor->is_bad = true;
}

/* The encoding of pointers among the data that an augmentation announces. */
static uint8_t augmented_encoding(struct col_dwarf_cursor *cursor, const char *letters)
{
    for (; *letters; letters++) {
        if (*letters == 'R')
            return (uint8_t)col_dwarf_fixed(cursor, 1);
        if (*letters == 'L') {
            col_dwarf_skip(cursor, 1);
        } else if (*letters == 'P') {
            unsigned bytes = pointer_bytes((uint8_t)col_dwarf_fixed(cursor, 1));
            if (bytes == 0)
                return OMITTED;
            col_dwarf_skip(cursor, bytes);
        } else if (!strchr("SBG", *letters)) {
            return OMITTED;
        }
        if (cursor->is_bad)
            return OMITTED;
    }
    return ABSOLUTE;
}

/* How FDEs of the CIE at an offset write addresses; OMITTED if that cannot be told. */
static uint8_t pointer_encoding(struct col_dwarf_bytes section, uint64_t offset)
{
    if (section.size < LEAST_CIE || offset > section.size - LEAST_CIE)
        return OMITTED;
    struct col_dwarf_cursor cursor = col_dwarf_at(section, offset + 8);
    uint64_t version = col_dwarf_fixed(&cursor, 1);
    size_t left = (size_t)(cursor.end - cursor.at);
    if (!memchr(cursor.at, 0, left < LONGEST_AUGMENTATION ? left : LONGEST_AUGMENTATION))
        return OMITTED;
    const char *augmentation = col_dwarf_string(&cursor);
    skip_leb(&cursor);
    skip_leb(&cursor);
    if (version == 1)
        col_dwarf_skip(&cursor, 1);
    else
        skip_leb(&cursor);
    if (*augmentation == 'z')
        skip_leb(&cursor);
    if (cursor.is_bad || (*augmentation && *augmentation != 'z'))
        return OMITTED;
    if (!*augmentation)
        return ABSOLUTE;
    uint8_t encoding = augmented_encoding(&cursor, augmentation + 1);
    return cursor.is_bad ? OMITTED : encoding;
}

static bool add(struct walk *walk, uint64_t start, uint64_t bytes)
{
    if (!COL_ARRAY_RESERVE(walk->found, walk->capacity, walk->count + 1))
        return false;
    walk->found[walk->count++] = (struct col_keyed){start, col_code_end(start, bytes)};
    return true;
}

/* As nearly all are: 4 bytes relative to themselves. What leads out of the address space is left out. */
static bool add_usual(struct walk *walk, uint64_t offset)
{
    struct col_dwarf_cursor cursor = col_dwarf_at(walk->section, offset);
    int64_t distance = (int64_t)offset + (int32_t)(uint32_t)col_dwarf_fixed(&cursor, 4);
    uint64_t bytes = col_dwarf_fixed(&cursor, 4), start;
    return __builtin_add_overflow(walk->address, distance, &start) || add(walk, start, bytes);
}

static bool add_other(struct walk *walk, uint64_t offset, uint8_t encoding)
{
    struct col_dwarf_cursor cursor = col_dwarf_at(walk->section, offset);
    unsigned bytes = pointer_bytes(encoding), relation = encoding & RELATION;
    if (bytes == 0 || (relation != 0 && relation != PCREL))
        return true;
    uint64_t start = col_dwarf_fixed(&cursor, bytes), size = col_dwarf_fixed(&cursor, bytes);
    if (cursor.is_bad)
        return true;
    if (encoding & SIGNED && start >> (8 * bytes - 1))
        start |= ~(~UINT64_C(0) >> (64 - 8 * bytes));
    return add(walk, relation == PCREL ? start + walk->address + offset : start, size);
}

static bool add_described(struct walk *walk, uint64_t position, uint32_t distance)
{
    uint64_t cie = position + 4 - distance; /* of nothing before the section: that is far past its end */
    if (cie != walk->cie) {
        walk->encoding = pointer_encoding(walk->section, cie);
        walk->cie = cie;
    }
    if (walk->encoding == PCREL_SDATA4)
        return add_usual(walk, position + 8);
    return walk->encoding == OMITTED || add_other(walk, position + 8, walk->encoding);
}

/* What follows a damaged entry is left out. */
static bool walk_entries(struct walk *walk)
{
    for (uint64_t position = 0; position + ENTRY_BYTES <= walk->section.size;) {
        struct col_dwarf_cursor cursor = col_dwarf_at(walk->section, position);
        uint64_t length = col_dwarf_fixed(&cursor, 4);
        uint32_t distance = (uint32_t)col_dwarf_fixed(&cursor, 4);
        if (length == UINT32_MAX) /* 64-bit entries: nobody writes them */
            return true;
        if (length != 0 && distance != 0 &&
            !add_described(walk, position, distance)) /* 0: a terminator, at times amid */
            return false;
        position += 4 + length;
    }
    return true;
}

/* Of those that begin at one address the longest; each ends where the next one begins. */
static bool take_found(const struct walk *walk, struct col_code_ranges *ranges)
{
    if (!COL_ARRAY_RESERVE(ranges->items, ranges->capacity, walk->count))
        return false;
    ranges->count = 0;
    for (size_t i = 0, next; i < walk->count; i = next) {
        uint64_t start = walk->found[i].key, end = walk->found[i].value;
        for (next = i + 1; next < walk->count && walk->found[next].key == start; next++)
            end = walk->found[next].value > end ? walk->found[next].value : end;
        if (next < walk->count && walk->found[next].key < end)
            end = walk->found[next].key;
        if (start < end)
            ranges->items[ranges->count++] = (struct col_code_range){start, end};
    }
    return true;
}

int col_frames_read(struct col_dwarf_bytes section, uint64_t address, struct col_code_ranges *ranges)
{
    struct walk walk = {.section = section, .address = address, .cie = UINT64_MAX, .encoding = OMITTED};
    bool is_done = walk_entries(&walk);
    col_sort_keyed(walk.found, walk.count);
    is_done = is_done && take_found(&walk, ranges);
    free(walk.found);
    return is_done ? 0 : -ENOMEM;
}

void col_frames_clip(struct col_code_ranges *ranges, const struct col_code_range *code, size_t code_count)
{
    size_t kept = 0, around = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        struct col_code_range range = ranges->items[i];
        while (around < code_count && code[around].end <= range.start)
            around++;
        if (around == code_count || range.start < code[around].start)
            continue;
        range.end = range.end < code[around].end ? range.end : code[around].end;
        ranges->items[kept++] = range;
    }
    ranges->count = kept;
}
