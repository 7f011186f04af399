/* msgpack.c -- a msgpack encoder over a piece of memory */
#include "experiment/msgpack.h"

#include <endian.h>
#include <string.h>

/* Takes `bytes` of the memory; NULL when they are not there. */
static uint8_t *take(struct col_msgpack *out, size_t bytes)
{
    size_t at = out->bytes;
    out->bytes += bytes;
    return col_msgpack_fits(out) ? out->start + at : NULL;
}

/* A type byte and a number of 0, 1, 2, 4 or 8 bytes, big-endian: where there is room by one store of 8 bytes, of which those too many are written over. */
static inline void put(struct col_msgpack *out, unsigned type, uint64_t number, unsigned width)
{
    size_t room = out->capacity > out->bytes ? out->capacity - out->bytes : 0;
    uint8_t *at = take(out, 1 + width);
    if (at == NULL)
        return;
    *at = (uint8_t)type;
    if (width == 0)
        return;
    uint64_t big_endian = htobe64(number << (64 - 8 * width));
    if (room > sizeof big_endian)
        memcpy(at + 1, &big_endian, sizeof big_endian);
    else
        memcpy(at + 1, &big_endian, width);
}

void col_msgpack_array(struct col_msgpack *out, uint32_t count)
{
    if (count < 16)
        put(out, 0x90 + count, 0, 0);
    else if (count <= UINT16_MAX)
        put(out, 0xdc, count, 2);
    else
        put(out, 0xdd, count, 4);
}

void col_msgpack_nil(struct col_msgpack *out)
{
    put(out, 0xc0, 0, 0);
}

void col_msgpack_true(struct col_msgpack *out)
{
    put(out, 0xc3, 0, 0);
}

void col_msgpack_uint(struct col_msgpack *out, uint64_t value)
{
    if (value < 128)
        put(out, (unsigned)value, 0, 0);
    else if (value <= UINT8_MAX)
        put(out, 0xcc, value, 1);
    else if (value <= UINT16_MAX)
        put(out, 0xcd, value, 2);
    else if (value <= UINT32_MAX)
        put(out, 0xce, value, 4);
    else
        put(out, 0xcf, value, 8);
}

void col_msgpack_int(struct col_msgpack *out, int64_t value)
{
    if (value >= 0)
        col_msgpack_uint(out, (uint64_t)value);
    else if (value >= -32)
        put(out, (unsigned)(value & 0xff), 0, 0);
    else
        put(out, 0xd3, (uint64_t)value, 8);
}

void col_msgpack_float(struct col_msgpack *out, double value)
{
    float narrow = (float)value;
    uint32_t narrow_bits;
    uint64_t bits;
    if ((double)narrow == value) {
        memcpy(&narrow_bits, &narrow, sizeof narrow);
        put(out, 0xca, narrow_bits, 4);
        return;
    }
    memcpy(&bits, &value, sizeof bits);
    put(out, 0xcb, bits, 8);
}

static void put_bytes(struct col_msgpack *out, const void *data, uint32_t bytes)
{
    uint8_t *at = take(out, bytes);
    if (at != NULL && bytes != 0)
        memcpy(at, data, bytes);
}

void col_msgpack_text(struct col_msgpack *out, const char *text)
{
    if (text == NULL)
        col_msgpack_nil(out);
    else
        col_msgpack_string(out, text, (uint32_t)strlen(text));
}

void col_msgpack_string(struct col_msgpack *out, const char *text, uint32_t bytes)
{
    if (bytes < 32)
        put(out, 0xa0 + bytes, 0, 0);
    else if (bytes <= UINT8_MAX)
        put(out, 0xd9, bytes, 1);
    else if (bytes <= UINT16_MAX)
        put(out, 0xda, bytes, 2);
    else
        put(out, 0xdb, bytes, 4);
    put_bytes(out, text, bytes);
}

void col_msgpack_texts(struct col_msgpack *out, const char *const *texts, size_t count, size_t most_bytes)
{
    size_t fitting = 0, bytes = 0;
    while (fitting < count && (bytes += strlen(texts[fitting]) + 5) <= most_bytes)
        fitting++;
    col_msgpack_array(out, (uint32_t)(fitting < count ? fitting + 1 : count));
    for (size_t i = 0; i < fitting; i++)
        col_msgpack_text(out, texts[i]);
    if (fitting < count)
        col_msgpack_text(out, "...");
}

uint8_t *col_msgpack_binary_space(struct col_msgpack *out, uint32_t bytes)
{
    if (bytes <= UINT8_MAX)
        put(out, 0xc4, bytes, 1);
    else if (bytes <= UINT16_MAX)
        put(out, 0xc5, bytes, 2);
    else
        put(out, 0xc6, bytes, 4);
    return take(out, bytes);
}

void col_msgpack_binary(struct col_msgpack *out, const void *data, uint32_t bytes)
{
    if (data == NULL) {
        col_msgpack_nil(out);
        return;
    }
    uint8_t *at = col_msgpack_binary_space(out, bytes);
    if (at != NULL && bytes != 0)
        memcpy(at, data, bytes);
}
