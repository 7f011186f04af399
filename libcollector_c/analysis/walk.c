/* walk.c -- the stacks that one record defines, one after the other, as numbers of addresses
 *
 * A predicted frame is found by the number of its parent, without a search: this is the innermost loop of the analysis.
 */
#include "walk.h"

#include "seam.h"

bool col_walk_begin(struct col_walk *walk, struct col_addresses *table, const uint8_t *definitions, size_t bytes)
{
    walk->table = table;
    walk->tokens = (struct col_tokens){definitions, definitions + bytes};
    walk->depth = walk->kept = 0;
    walk->frames_left = COL_WALK_MOST_FRAMES;
    walk->is_out_of_memory = !col_addresses_begin_record(table);
    return !walk->is_out_of_memory;
}

/* Puts on a frame that is given by its distance from another, over `parent`. */
static uint32_t put_on_literal(struct col_walk *walk, uint32_t parent, enum col_token_kind kind, uint64_t token)
{
    struct col_addresses *table = walk->table;
    uint32_t base = parent;
    if (kind == COL_TOKEN_FROM_PREDICTED) {
        if (table->predictions[parent].epoch != table->epoch)
            return COL_ANALYSIS_NONE;
        base = table->predictions[parent].child;
    }
    uint32_t child = col_addresses_number(table, col_tokens_address(table->addresses[base], token));
    if (child == COL_ANALYSIS_NONE)
        walk->is_out_of_memory = true;
    else
        table->predictions[parent] = (struct col_prediction){child, table->epoch};
    return child;
}

static bool put_on_predicted(struct col_walk *walk, uint32_t parent, uint64_t run)
{
    const struct col_prediction *predictions = walk->table->predictions;
    uint32_t epoch = walk->table->epoch;
    uint32_t *to = walk->path + walk->depth;
    walk->depth += (uint32_t)run;
    for (; run > 0; run--) {
        if (predictions[parent].epoch != epoch)
            return false;
        *to++ = parent = predictions[parent].child;
    }
    return true;
}

static bool put_on(struct col_walk *walk, uint64_t add)
{
    while (add > 0) {
        enum col_token_kind kind;
        uint64_t token;
        uint32_t parent = walk->depth > 0 ? walk->path[walk->depth - 1] : 0;
        if (!col_tokens_read(&walk->tokens, &kind, &token))
            return false;
        if (kind != COL_TOKEN_RUN) {
            uint32_t child = put_on_literal(walk, parent, kind, token);
            if (child == COL_ANALYSIS_NONE)
                return false;
            walk->path[walk->depth++] = child;
            add--;
        } else {
            if (token >= add || !put_on_predicted(walk, parent, token + 1))
                return false;
            add -= token + 1;
        }
    }
    return true;
}

bool col_walk_next(struct col_walk *walk)
{
    uint64_t drop_and_end, add;
    if (!col_tokens_read_number(&walk->tokens, &drop_and_end) || !col_tokens_read_number(&walk->tokens, &add))
        return false;
    uint64_t drop = drop_and_end >> COL_TOKENS_END_BITS;
    if (drop > walk->depth || add > COL_TOKENS_MAX_DEPTH || walk->depth - drop + add > COL_TOKENS_MAX_DEPTH ||
        add > walk->frames_left)
        return false;
    walk->frames_left -= add;
    walk->depth -= (uint32_t)drop;
    walk->kept = walk->depth;
    walk->end = (uint32_t)drop_and_end & ((1u << COL_TOKENS_END_BITS) - 1);
    return put_on(walk, add);
}
