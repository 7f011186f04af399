/* msgpack.h -- a msgpack encoder over a piece of memory; it remembers what did not fit */
#ifndef COL_EXPERIMENT_MSGPACK_H
#define COL_EXPERIMENT_MSGPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writing goes on past the end: nothing more is stored, but `bytes` still counts. So callers are a straight column of writes
 * with one check at the end, and a first round over no memory at all tells how much a second one needs.
 * From anywhere, signal handlers included.
 */
struct col_msgpack {
    uint8_t *start;
    size_t capacity;
    size_t bytes; /* written, or that would have been */
};

static inline struct col_msgpack col_msgpack_over(void *start, size_t capacity)
{
    return (struct col_msgpack){start, capacity, 0};
}

static inline bool col_msgpack_fits(const struct col_msgpack *out)
{
    return out->bytes <= out->capacity;
}

void col_msgpack_array(struct col_msgpack *out, uint32_t count); /* `count` values follow */
void col_msgpack_nil(struct col_msgpack *out);
void col_msgpack_true(struct col_msgpack *out);
void col_msgpack_uint(struct col_msgpack *out, uint64_t value);
void col_msgpack_int(struct col_msgpack *out, int64_t value);
void col_msgpack_float(struct col_msgpack *out,
                       double value); /* in 4 bytes where these hold the value exactly, else in 8 */
void col_msgpack_text(struct col_msgpack *out, const char *text); /* NULL: nil */
void col_msgpack_texts(struct col_msgpack *out, const char *const *texts, size_t count,
                       size_t most_bytes); /* an array; a last "..." where they do not fit */
void col_msgpack_string(struct col_msgpack *out, const char *text, uint32_t bytes);
void col_msgpack_binary(struct col_msgpack *out, const void *data, uint32_t bytes); /* NULL: nil */

/* Announces that many bytes of binary data and returns where the caller puts them; NULL when they do not fit. */
uint8_t *col_msgpack_binary_space(struct col_msgpack *out, uint32_t bytes);

#endif
