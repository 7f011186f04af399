/* code_range.h -- a piece of code: [start, end) in the addresses of its file */
#ifndef COL_ELF_CODE_RANGE_H
#define COL_ELF_CODE_RANGE_H

#include <stddef.h>
#include <stdint.h>

struct col_code_range {
    uint64_t start;
    uint64_t end;
};

/* A row of them, which rise and do not overlap. Zeroed memory is an empty one. */
struct col_code_ranges {
    struct col_code_range *items;
    size_t count, capacity;
};

/* The end of `bytes` from `start` on; the last address, where that is past it. */
static inline uint64_t col_code_end(uint64_t start, uint64_t bytes)
{
    return bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
}

#endif
