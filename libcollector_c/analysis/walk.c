/* walk.c -- the stacks that one record defines, one after the other, as numbers of addresses
 *
 * Children are found by the number of their parent, without a search: this is the innermost loop of the analysis.
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

static void put_first(struct col_children *children, uint32_t child, uint32_t epoch)
{
    children->epoch = epoch;
    children->child[0] = child;
    for (unsigned place = 1; place < COL_TOKENS_MAX_CHILDREN; place++)
        children->child[place] = COL_ANALYSIS_NONE;
}

/* One more child, in place of the last if there are too many. */
static void put_last(struct col_children *children, uint32_t child)
{
    unsigned place = 1;
    while (place < COL_TOKENS_MAX_CHILDREN - 1 && children->child[place] != COL_ANALYSIS_NONE)
        place++;
    children->child[place] = child;
}

/* Puts on a frame that is told by its distance from another, over `parent`. */
static uint32_t put_on_address(struct col_walk *walk, uint32_t parent, enum col_token_kind kind, uint64_t token)
{
    struct col_addresses *table = walk->table;
    uint32_t base = parent;
    if (kind == COL_TOKEN_FROM_CHILD) {
        if (table->children[parent].epoch != table->epoch)
            return COL_ANALYSIS_NONE;
        base = table->children[parent].child[0];
    }
    uint32_t child = col_addresses_number(table, col_tokens_address(table->addresses[base], token));
    if (child == COL_ANALYSIS_NONE)
        walk->is_out_of_memory = true;
    else if (kind == COL_TOKEN_FROM_CHILD)
        put_last(&table->children[parent], child);
    else
        put_first(&table->children[parent], child, table->epoch);
    return child;
}

/* Puts on the child at a place, which goes up by one, and so many first children. */
static bool put_on_known(struct col_walk *walk, uint32_t parent, unsigned place, uint64_t run)
{
    struct col_children *children = walk->table->children, *known = &children[parent];
    uint32_t epoch = walk->table->epoch;
    if (known->epoch != epoch || place >= COL_TOKENS_MAX_CHILDREN || known->child[place] == COL_ANALYSIS_NONE)
        return false;
    uint32_t *to = walk->path + walk->depth;
    walk->depth += (uint32_t)run + 1;
    *to++ = parent = known->child[place];
    if (place > 0) {
        known->child[place] = known->child[place - 1];
        known->child[place - 1] = parent;
    }
    for (; run > 0; run--) {
        if (children[parent].epoch != epoch)
            return false;
        *to++ = parent = children[parent].child[0];
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
        if (kind != COL_TOKEN_KNOWN) {
            uint32_t child = put_on_address(walk, parent, kind, token);
            if (child == COL_ANALYSIS_NONE)
                return false;
            walk->path[walk->depth++] = child;
            add--;
        } else {
            uint64_t run = col_tokens_run(token);
            if (run >= add || !put_on_known(walk, parent, col_tokens_place(token), run))
                return false;
            add -= run + 1;
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
