/* tokens.h -- the numbers that the definitions of stacks are made of (docs/format.md, Stacks) */
#ifndef COL_PMCLOG_TOKENS_H
#define COL_PMCLOG_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COL_TOKENS_END_BITS = 3, COL_TOKENS_PLACE_BITS = 3, COL_TOKENS_MAX_DEPTH = 65535, COL_TOKENS_MAX_CHILDREN = 7 };

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

enum col_token_kind { COL_TOKEN_KNOWN, COL_TOKEN_FROM_PARENT, COL_TOKEN_FROM_CHILD };

/* A token without the bits that tell its kind: the whole of it may have 66 bits. */
static inline bool col_tokens_read(struct col_tokens *tokens, enum col_token_kind *kind, uint64_t *token)
{
    if (tokens->at == tokens->end)
        return false;
    uint8_t byte = *tokens->at++;
    bool is_known = !(byte & 1);
    *kind = is_known ? COL_TOKEN_KNOWN : byte & 2 ? COL_TOKEN_FROM_CHILD : COL_TOKEN_FROM_PARENT;
    *token = is_known ? byte >> 1 & 0x3F : byte >> 2 & 0x1F;
    return byte < 0x80 || col_tokens_read_rest(tokens, token, is_known ? 6 : 5);
}

/* Of a token that is COL_TOKEN_KNOWN: the place of the child, and how many first children follow. */
static inline unsigned col_tokens_place(uint64_t token)
{
    return (unsigned)token & ((1u << COL_TOKENS_PLACE_BITS) - 1);
}

static inline uint64_t col_tokens_run(uint64_t token)
{
    return token >> COL_TOKENS_PLACE_BITS;
}

/* The address that a token of another kind tells. */
static inline uint64_t col_tokens_address(uint64_t base, uint64_t token)
{
    return base + (token >> 1 ^ -(token & 1));
}

#endif
