/* stacks.c -- the call stacks that a PCSAMPLE record defines, unfolded once and shared by its samples */
#include "stacks.h"

#include "tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_LINKS = 1024 };

struct col_link {
    uint64_t parent;
    uint64_t children[COL_TOKENS_MAX_CHILDREN];
    uint32_t child_count;
    uint32_t epoch;
};

static struct col_link *link_of(const struct col_stacks *stacks, uint64_t parent)
{
    size_t mask = stacks->link_capacity - 1;
    size_t slot = (size_t)(parent * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (stacks->links[slot].epoch == stacks->epoch && stacks->links[slot].parent != parent)
        slot = (slot + 1) & mask;
    return &stacks->links[slot];
}

static bool double_links(struct col_stacks *stacks)
{
    struct col_link *old = stacks->links;
    size_t old_capacity = stacks->link_capacity;
    size_t capacity = old_capacity ? 2 * old_capacity : FIRST_LINKS;
    struct col_link *links = calloc(capacity, sizeof *links);
    if (!links)
        return false;
    stacks->links = links;
    stacks->link_capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].epoch == stacks->epoch)
            *link_of(stacks, old[i].parent) = old[i];
    free(old);
    return true;
}

/* Makes the child the only one of the parent. */
static int put_first(struct col_stacks *stacks, uint64_t parent, uint64_t child)
{
    struct col_link *link = link_of(stacks, parent);
    bool is_new = link->epoch != stacks->epoch;
    *link = (struct col_link){parent, {child}, 1, stacks->epoch};
    if (!is_new || ++stacks->link_count <= stacks->link_capacity / 2)
        return 0;
    return double_links(stacks) ? 0 : -ENOMEM;
}

/* One more child, in place of the last if there are too many. */
static void put_last(struct col_link *link, uint64_t child)
{
    if (link->child_count == COL_TOKENS_MAX_CHILDREN)
        link->child_count--;
    link->children[link->child_count++] = child;
}

/* The child at a place, which goes up by one. */
static uint64_t take_child(struct col_link *link, unsigned place)
{
    uint64_t child = link->children[place];
    if (place > 0) {
        link->children[place] = link->children[place - 1];
        link->children[place - 1] = child;
    }
    return child;
}

/* Puts on a frame that is told by its distance from another: 0, or -errno. */
static int put_address(struct col_stacks *stacks, uint64_t *frame, uint64_t parent, enum col_token_kind kind,
                       uint64_t token)
{
    if (kind == COL_TOKEN_FROM_PARENT) {
        *frame = col_tokens_address(parent, token);
        return put_first(stacks, parent, *frame);
    }
    struct col_link *link = link_of(stacks, parent);
    if (link->epoch != stacks->epoch)
        return -EBADMSG;
    *frame = col_tokens_address(link->children[0], token);
    put_last(link, *frame);
    return 0;
}

/* Puts `add` frames on, the last of them at frames[0]. */
static int put_on(struct col_stacks *stacks, uint64_t *frames, size_t add, uint64_t parent, struct col_tokens *reader)
{
    while (add > 0) {
        enum col_token_kind kind;
        uint64_t token;
        if (!col_tokens_read(reader, &kind, &token))
            return -EBADMSG;
        if (kind != COL_TOKEN_KNOWN) {
            int error = put_address(stacks, &frames[--add], parent, kind, token);
            if (error)
                return error;
            parent = frames[add];
            continue;
        }
        if (col_tokens_run(token) >= add)
            return -EBADMSG;
        unsigned place = col_tokens_place(token);
        for (uint64_t run = col_tokens_run(token) + 1; run > 0; run--, place = 0) {
            struct col_link *link = link_of(stacks, parent);
            if (link->epoch != stacks->epoch || place >= link->child_count)
                return -EBADMSG;
            frames[--add] = parent = take_child(link, place);
        }
    }
    return 0;
}

static int reserve_frames(struct col_stacks *stacks, size_t more)
{
    size_t needed = stacks->frame_count + more;
    if (needed <= stacks->frame_capacity)
        return 0;
    if (needed > COL_STACKS_MAX_FRAMES)
        return -EBADMSG;
    size_t capacity = needed < 4096 ? 4096 : needed + needed / 2;
    uint64_t *frames = realloc(stacks->frames, capacity * sizeof *frames);
    if (!frames)
        return -ENOMEM;
    stacks->frames = frames;
    stacks->frame_capacity = capacity;
    return 0;
}

static int define_one(struct col_stacks *stacks, const struct col_stack *before, struct col_stack *stack,
                      struct col_tokens *reader)
{
    uint64_t drop_and_end, add;
    if (!col_tokens_read_number(reader, &drop_and_end) || !col_tokens_read_number(reader, &add))
        return -EBADMSG;
    uint64_t drop = drop_and_end >> COL_TOKENS_END_BITS;
    if (drop > before->count || add > COL_TOKENS_MAX_DEPTH || before->count - drop + add > COL_TOKENS_MAX_DEPTH)
        return -EBADMSG;
    size_t kept = before->count - (size_t)drop;
    size_t count = kept + (size_t)add;
    *stack = (struct col_stack){before->first + (size_t)drop, (uint32_t)count,
                                (uint32_t)drop_and_end & ((1u << COL_TOKENS_END_BITS) - 1)};
    if (add == 0)
        return 0;
    int error = reserve_frames(stacks, count);
    if (error)
        return error;
    uint64_t *frames = stacks->frames + stacks->frame_count;
    if (kept > 0)
        memcpy(frames + add, stacks->frames + stack->first, kept * sizeof *frames);
    stack->first = stacks->frame_count;
    stacks->frame_count += count;
    return put_on(stacks, frames, (size_t)add, kept > 0 ? frames[add] : 0, reader);
}

static bool begin(struct col_stacks *stacks, size_t count)
{
    stacks->frame_count = stacks->stack_count = stacks->link_count = 0;
    if (++stacks->epoch == 0) {
        memset(stacks->links, 0, stacks->link_capacity * sizeof *stacks->links);
        stacks->epoch = 1;
    }
    if (!stacks->links && !double_links(stacks))
        return false;
    if (count <= stacks->stack_capacity)
        return true;
    struct col_stack *larger = realloc(stacks->stacks, count * sizeof *larger);
    if (!larger)
        return false;
    stacks->stacks = larger;
    stacks->stack_capacity = count;
    return true;
}

bool col_stacks_define(struct col_stacks *stacks, uint64_t count, const uint8_t *definitions, size_t bytes)
{
    static const struct col_stack empty;
    struct col_tokens reader = {definitions, definitions + bytes};
    size_t most = count < bytes / 2 ? (size_t)count : bytes / 2; /* the shortest definition has two bytes */
    if (!begin(stacks, most))
        return false;
    for (; stacks->stack_count < most; stacks->stack_count++) {
        struct col_stack *stack = &stacks->stacks[stacks->stack_count];
        int error = define_one(stacks, stacks->stack_count > 0 ? stack - 1 : &empty, stack, &reader);
        if (error)
            return error != -ENOMEM;
    }
    return true;
}

void col_stacks_free(struct col_stacks *stacks)
{
    free(stacks->frames);
    free(stacks->stacks);
    free(stacks->links);
    *stacks = (struct col_stacks){0};
}
