/* cursor.c -- msgpack values, read one after the other out of bytes that nobody vouches for */
#include "cursor.h"

#include <string.h>

/* The tags of msgpack that stand alone; 00-7f, 80-8f, 90-9f, a0-bf and e0-ff carry a small value in themselves. */
enum tag {
    NIL = 0xC0,
    NEVER_USED,
    FALSE,
    TRUE,
    BIN_8,
    BIN_16,
    BIN_32,
    EXT_8,
    EXT_16,
    EXT_32,
    FLOAT_32,
    FLOAT_64,
    UINT_8,
    UINT_16,
    UINT_32,
    UINT_64,
    INT_8,
    INT_16,
    INT_32,
    INT_64,
    FIXEXT_1,
    FIXEXT_2,
    FIXEXT_4,
    FIXEXT_8,
    FIXEXT_16,
    STR_8,
    STR_16,
    STR_32,
    ARRAY_16,
    ARRAY_32,
    MAP_16,
    MAP_32
};

static size_t left(const struct col_cursor *cursor)
{
    return (size_t)(cursor->end - cursor->at);
}

/* A big-endian number of `bytes` bytes behind the tag. */
static bool number_after_tag(const struct col_cursor *cursor, size_t bytes, uint64_t *value)
{
    if (left(cursor) < 1 + bytes)
        return false;
    *value = 0;
    for (size_t i = 1; i <= bytes; i++)
        *value = *value << 8 | cursor->at[i];
    return true;
}

/* For tags that come as a family of 1, 2, 4 (and 8) bytes beginning with `first`. */
static bool number_of_family(struct col_cursor *cursor, int first, int last, uint64_t *value, size_t *bytes)
{
    if (left(cursor) == 0 || *cursor->at < first || *cursor->at > last)
        return false;
    *bytes = (size_t)1 << (*cursor->at - first);
    if (!number_after_tag(cursor, *bytes, value))
        return false;
    cursor->at += 1 + *bytes;
    return true;
}

bool col_cursor_read_nil(struct col_cursor *cursor)
{
    if (left(cursor) == 0 || *cursor->at != NIL)
        return false;
    cursor->at++;
    return true;
}

bool col_cursor_read_true(struct col_cursor *cursor)
{
    if (left(cursor) == 0 || *cursor->at != TRUE)
        return false;
    cursor->at++;
    return true;
}

bool col_cursor_read_signed(struct col_cursor *cursor, int64_t *value)
{
    struct col_cursor start = *cursor;
    uint64_t number;
    size_t bytes;
    if (left(cursor) > 0 && (*cursor->at < 0x80 || *cursor->at >= 0xE0)) {
        *value = (int8_t)*cursor->at++;
        return true;
    }
    if (number_of_family(cursor, INT_8, INT_64, &number, &bytes)) {
        unsigned unused_bits = (unsigned)(64 - 8 * bytes);
        *value = (int64_t)(number << unused_bits) >> unused_bits;
        return true;
    }
    if (number_of_family(cursor, UINT_8, UINT_64, &number, &bytes) && number <= INT64_MAX) {
        *value = (int64_t)number;
        return true;
    }
    *cursor = start;
    return false;
}

bool col_cursor_read_unsigned(struct col_cursor *cursor, uint64_t *value)
{
    struct col_cursor start = *cursor;
    size_t bytes;
    if (number_of_family(cursor, UINT_8, UINT_64, value, &bytes))
        return true;
    int64_t number;
    if (col_cursor_read_signed(cursor, &number) && number >= 0) {
        *value = (uint64_t)number;
        return true;
    }
    *cursor = start;
    return false;
}

bool col_cursor_read_real(struct col_cursor *cursor, double *value)
{
    uint64_t number;
    if (left(cursor) == 0)
        return false;
    if (*cursor->at == FLOAT_64 && number_after_tag(cursor, 8, &number)) {
        memcpy(value, &number, sizeof *value);
        cursor->at += 9;
        return true;
    }
    if (*cursor->at == FLOAT_32 && number_after_tag(cursor, 4, &number)) {
        uint32_t narrow = (uint32_t)number;
        float single;
        memcpy(&single, &narrow, sizeof single);
        *value = (double)single;
        cursor->at += 5;
        return true;
    }
    return false;
}

bool col_cursor_read_array(struct col_cursor *cursor, uint32_t *count)
{
    uint64_t number;
    if (left(cursor) > 0 && (*cursor->at & 0xF0) == 0x90) {
        *count = *cursor->at++ & 0x0F;
        return true;
    }
    if (left(cursor) == 0 || (*cursor->at != ARRAY_16 && *cursor->at != ARRAY_32))
        return false;
    size_t bytes = *cursor->at == ARRAY_16 ? 2 : 4;
    if (!number_after_tag(cursor, bytes, &number))
        return false;
    cursor->at += 1 + bytes;
    *count = (uint32_t)number;
    return true;
}

/* The bytes that the length just read promises. */
static bool take_extent(struct col_cursor *cursor, uint64_t count, struct col_extent *extent)
{
    if (count > left(cursor))
        return false;
    *extent = (struct col_extent){cursor->at, (size_t)count};
    cursor->at += count;
    return true;
}

bool col_cursor_read_text(struct col_cursor *cursor, struct col_extent *text)
{
    struct col_cursor start = *cursor;
    uint64_t count;
    size_t bytes;
    if (left(cursor) > 0 && (*cursor->at & 0xE0) == 0xA0) {
        count = *cursor->at++ & 0x1F;
        if (take_extent(cursor, count, text))
            return true;
    } else if (number_of_family(cursor, STR_8, STR_32, &count, &bytes) && take_extent(cursor, count, text)) {
        return true;
    }
    *cursor = start;
    return false;
}

bool col_cursor_read_data(struct col_cursor *cursor, struct col_extent *data)
{
    struct col_cursor start = *cursor;
    uint64_t count;
    size_t bytes;
    if (number_of_family(cursor, BIN_8, BIN_32, &count, &bytes) && take_extent(cursor, count, data))
        return true;
    *cursor = start;
    return false;
}

/* The bytes of one value without the values inside it, of which there are *inside. 0 if there is no such value or it is not all there. */
static size_t own_bytes(const struct col_cursor *cursor, uint64_t *inside)
{
    uint8_t tag = *cursor->at;
    uint64_t number = 0;
    *inside = 0;
    if (tag < 0x80 || tag >= 0xE0)
        return 1;
    if (tag < 0xA0) {
        *inside = tag < 0x90 ? 2u * (tag & 0x0F) : tag & 0x0Fu;
        return 1;
    }
    if (tag < 0xC0)
        return 1 + (size_t)(tag & 0x1F);
    static const struct {
        uint8_t count_bytes; /* of the length or number of elements behind the tag */
        uint8_t fixed_bytes; /* further bytes, tag included */
    } shape[0x20] = {
        [NIL - NIL] = {0, 1},      [FALSE - NIL] = {0, 1},    [TRUE - NIL] = {0, 1},      [BIN_8 - NIL] = {1, 1},
        [BIN_16 - NIL] = {2, 1},   [BIN_32 - NIL] = {4, 1},   [EXT_8 - NIL] = {1, 2},     [EXT_16 - NIL] = {2, 2},
        [EXT_32 - NIL] = {4, 2},   [FLOAT_32 - NIL] = {0, 5}, [FLOAT_64 - NIL] = {0, 9},  [UINT_8 - NIL] = {0, 2},
        [UINT_16 - NIL] = {0, 3},  [UINT_32 - NIL] = {0, 5},  [UINT_64 - NIL] = {0, 9},   [INT_8 - NIL] = {0, 2},
        [INT_16 - NIL] = {0, 3},   [INT_32 - NIL] = {0, 5},   [INT_64 - NIL] = {0, 9},    [FIXEXT_1 - NIL] = {0, 3},
        [FIXEXT_2 - NIL] = {0, 4}, [FIXEXT_4 - NIL] = {0, 6}, [FIXEXT_8 - NIL] = {0, 10}, [FIXEXT_16 - NIL] = {0, 18},
        [STR_8 - NIL] = {1, 1},    [STR_16 - NIL] = {2, 1},   [STR_32 - NIL] = {4, 1},    [ARRAY_16 - NIL] = {2, 1},
        [ARRAY_32 - NIL] = {4, 1}, [MAP_16 - NIL] = {2, 1},   [MAP_32 - NIL] = {4, 1},
    };
    size_t count_bytes = shape[tag - NIL].count_bytes;
    size_t bytes = count_bytes + shape[tag - NIL].fixed_bytes; /* 0 for the tag that is never used */
    if (!number_after_tag(cursor, count_bytes, &number))
        return 0;
    if (tag >= ARRAY_16) {
        *inside = tag >= MAP_16 ? 2 * number : number;
        return bytes;
    }
    return bytes == 0 ? 0 : bytes + (size_t)number;
}

bool col_cursor_skip(struct col_cursor *cursor)
{
    struct col_cursor start = *cursor;
    for (uint64_t values = 1; values > 0; values--) {
        uint64_t inside;
        size_t bytes = left(cursor) > 0 ? own_bytes(cursor, &inside) : 0;
        if (bytes == 0 || bytes > left(cursor)) {
            *cursor = start;
            return false;
        }
        cursor->at += bytes;
        values += inside;
    }
    return true;
}
