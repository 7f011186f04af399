/* tokens.h -- the numbers that the definitions of stacks are made of (docs/format.md, Stacks) */
#ifndef COL_PMCLOG_TOKENS_H
#define COL_PMCLOG_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COL_TOKENS_END_BITS = 3, COL_TOKENS_MAX_DEPTH = 65535 };

struct col_tokens {
    const uint8_t *at;
    const uint8_t *end;
};

/* The rest of a LEB128 number whose lowest `shift` bits are known. A number that does not fit 64 bits, or does not end, is refused. */
static inline bool col_tokens_read_rest(struct col_tokens *tokens, uint64_t *number, unsigned shift)
{
    for (; shift < 64 && tokens->at < tokens->end; shift += 7) {
        uint8_t byte = *tokens->at++;
        uint64_t bits = byte & 0x7F;
        *number |= bits << shift;
        if (byte < 0x80)
            return bits << shift >> shift == bits;
    }
    return false;
}

static inline bool col_tokens_read_number(struct col_tokens *tokens, uint64_t *number)
{
    *number = 0;
    return col_tokens_read_rest(tokens, number, 0);
}

/* A token without its lowest bit, which goes to *is_literal: the whole of it may have 65 bits. */
static inline bool col_tokens_read(struct col_tokens *tokens, bool *is_literal, uint64_t *token)
{
    if (tokens->at == tokens->end)
        return false;
    uint8_t byte = *tokens->at++;
    *is_literal = byte & 1;
    *token = byte >> 1 & 0x3F;
    return byte < 0x80 || col_tokens_read_rest(tokens, token, 6);
}

#endif
