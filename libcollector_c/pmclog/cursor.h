/* cursor.h -- msgpack values, read one after the other out of bytes that nobody vouches for */
#ifndef COL_PMCLOG_CURSOR_H
#define COL_PMCLOG_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct col_cursor {
    const uint8_t *at;
    const uint8_t *end;
};

/* A run of bytes inside what the cursor reads. */
struct col_extent {
    const uint8_t *bytes; /* NULL for nil */
    size_t count;
};

/* Each returns false, and leaves the cursor where it is, when the next value is of another type or reaches past the end. */
bool col_cursor_read_nil(struct col_cursor *cursor);
bool col_cursor_read_true(struct col_cursor *cursor);
bool col_cursor_read_unsigned(struct col_cursor *cursor, uint64_t *value);
bool col_cursor_read_signed(struct col_cursor *cursor, int64_t *value);
bool col_cursor_read_real(struct col_cursor *cursor, double *value);
bool col_cursor_read_array(struct col_cursor *cursor, uint32_t *count);
bool col_cursor_read_text(struct col_cursor *cursor, struct col_extent *text);
bool col_cursor_read_data(struct col_cursor *cursor, struct col_extent *data);

/* Passes over one value with everything inside it, however deep, in time that its bytes pay for. */
bool col_cursor_skip(struct col_cursor *cursor);

#endif
