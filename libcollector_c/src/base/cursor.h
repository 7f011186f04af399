/* cursor.h -- reading DWARF's numbers from a block of bytes, never past its end */
#ifndef COL_BASE_CURSOR_H
#define COL_BASE_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/*
 * The cursor remembers its first failure: it goes to its end, later reads give 0, and the caller asks once, at the end.
 */
struct col_cursor {
    const uint8_t *at, *end;
    bool failed;
    uintptr_t
        to_original; /* from where the bytes lie to where pointers that are relative to themselves count from: 0 but in a copy */
};

/* Pointer encodings, LSB Core "DWARF Extensions": the low four bits say how wide, the next three relative to what. */
enum {
    COL_POINTER_OMITTED = 0xff,
    COL_POINTER_RELATIVE_TO_SELF = 0x10,
    COL_POINTER_RELATIVE_TO_DATA = 0x30,
    COL_POINTER_INDIRECT = 0x80,
};

static inline bool col_cursor_copy(struct col_cursor *cursor, void *to, size_t size)
{
    if (__builtin_expect((size_t)(cursor->end - cursor->at) < size, 0)) {
        cursor->failed = true;
        cursor->at = cursor->end;
        memset(to, 0, size);
        return false;
    }
    memcpy(to, cursor->at, size);
    cursor->at += size;
    return true;
}

static inline uint8_t col_cursor_u8(struct col_cursor *cursor)
{
    uint8_t value;
    col_cursor_copy(cursor, &value, sizeof value);
    return value;
}

static inline uint16_t col_cursor_u16(struct col_cursor *cursor)
{
    uint16_t value;
    col_cursor_copy(cursor, &value, sizeof value);
    return value;
}

static inline uint32_t col_cursor_u32(struct col_cursor *cursor)
{
    uint32_t value;
    col_cursor_copy(cursor, &value, sizeof value);
    return value;
}

static inline uint64_t col_cursor_u64(struct col_cursor *cursor)
{
    uint64_t value;
    col_cursor_copy(cursor, &value, sizeof value);
    return value;
}

/* Kept out of the way of col_cursor_uleb. */
static __attribute__((noinline, unused)) uint64_t col_cursor_long_uleb(struct col_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = col_cursor_u8(cursor);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0 || cursor->failed)
            return value;
    }
}

static inline uint64_t col_cursor_uleb(struct col_cursor *cursor)
{
    bool is_short = cursor->at < cursor->end && *cursor->at < 0x80; /* as nearly all are */
    return __builtin_expect(is_short, 1) ? *cursor->at++ : col_cursor_long_uleb(cursor);
}

static inline int64_t col_cursor_sleb(struct col_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
        uint8_t byte = col_cursor_u8(cursor);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
        if (byte & 0x80 && !cursor->failed)
            continue;
        if (shift < 64 && byte & 0x40)
            value |= ~UINT64_C(0) << shift;
        return (int64_t)value;
    }
}

static inline void col_cursor_skip(struct col_cursor *cursor, uint64_t size)
{
    bool is_there = !cursor->failed && size <= (uint64_t)(cursor->end - cursor->at);
    cursor->failed = !is_there;
    cursor->at = is_there ? cursor->at + size : cursor->end;
}

/* Reads an encoded pointer. An indirect one gives the place where the pointer is kept. */
static inline uintptr_t col_cursor_pointer(struct col_cursor *cursor, uint8_t encoding, uintptr_t data)
{
    uintptr_t self = (uintptr_t)cursor->at + cursor->to_original;
    uintptr_t value = 0;
    switch (encoding & 0x0f) {
    case 0x01:
        value = col_cursor_uleb(cursor);
        break;
    case 0x02:
        value = col_cursor_u16(cursor);
        break;
    case 0x03:
        value = col_cursor_u32(cursor);
        break;
    case 0x00:
    case 0x04:
    case 0x08:
    case 0x0c:
        value = col_cursor_u64(cursor);
        break;
    case 0x09:
        value = (uintptr_t)col_cursor_sleb(cursor);
        break;
    case 0x0a:
        value = (uintptr_t)(intptr_t)(int16_t)col_cursor_u16(cursor);
        break;
    case 0x0b:
        value = (uintptr_t)(intptr_t)(int32_t)col_cursor_u32(cursor);
        break;
    default:
        cursor->failed = true;
    }
    switch (encoding & 0x70) {
    case 0:
        return value;
    case COL_POINTER_RELATIVE_TO_SELF:
        return value + self;
    case COL_POINTER_RELATIVE_TO_DATA:
        return value + data;
    default:
        cursor->failed = true;
        return 0;
    }
}

#endif
