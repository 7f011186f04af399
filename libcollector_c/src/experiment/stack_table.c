/* stack_table.c -- the stacks of one record, each defined as its difference from the one before */
#include "experiment/stack_table.h"

#include <string.h>

#define INDEX_BITS 10u
#define INDEX_MASK (((uint64_t)1 << INDEX_BITS) - 1)
#define FETCHED 32u
#define NUMBER_BYTES 10u /* a LEB128 number of up to 70 bits */

_Static_assert(COL_STACK_TABLE_STACKS <= INDEX_MASK, "an index + 1 fits its bits");
_Static_assert(COL_STACK_TABLE_CHILDREN < 1 << 3, "a place fits a token's bits");

void col_stack_table_reset(struct col_stack_table *table)
{
    memset(table->interned, 0, sizeof table->interned);
    memset(table->parent_slots, 0, sizeof table->parent_slots);
    table->previous_count = table->stack_count = table->parent_count = 0;
}

/* Both halves of a product of 128 bits: every bit of it depends on every bit of both factors. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t col_stack_table_hash(const struct col_stack *stack)
{
    uint64_t hash = 0x9e3779b97f4a7c15u ^ ((uint64_t)stack->count << 8 | stack->end);
    uint32_t i = 0;
    for (; i + 1 < stack->count; i += 2) /* the multiplier is a random odd number, as is the start */
        hash = mix(stack->pcs[i] ^ 0xa0761d6478bd642fu, stack->pcs[i + 1] ^ hash);
    if (i < stack->count)
        hash = mix(stack->pcs[i] ^ 0xe7037ed1a0b428dbu, hash);
    return mix(hash, 0x8ebc6af09c88c6e3u);
}

/* The slot of the hash, or the empty one where it belongs. The table is at most half full. */
static uint32_t slot_of(const struct col_stack_table *table, uint64_t hash)
{
    uint32_t slot = (uint32_t)hash % COL_STACK_TABLE_SLOTS;
    while (table->interned[slot] != 0 && (table->interned[slot] ^ hash) >> INDEX_BITS != 0)
        slot = (slot + 1) % COL_STACK_TABLE_SLOTS;
    return slot;
}

bool col_stack_table_find(const struct col_stack_table *table, uint64_t hash, uint32_t *index)
{
    uint64_t entry = table->interned[slot_of(table, hash)];
    *index = (uint32_t)(entry & INDEX_MASK) - 1;
    return entry != 0;
}

/* Frames that the stack shares with the one before it, from the root. */
static uint32_t shared_count(const struct col_stack_table *table, const struct col_stack *stack)
{
    uint32_t most = stack->count < table->previous_count ? stack->count : table->previous_count, shared = 0;
    while (shared < most && table->previous[shared] == stack->pcs[stack->count - 1 - shared])
        shared++;
    return shared;
}

static uint32_t parent_slot_of(uintptr_t parent)
{
    return (uint32_t)((uint64_t)parent * 0x9e3779b97f4a7c15u >> 44) % COL_STACK_TABLE_PARENT_SLOTS;
}

/* The children that a definition will ask for lie all over the table: fetched together they cost one wait, not one each. */
static void fetch_children(const struct col_stack_table *table, const struct col_stack *stack, uint32_t shared)
{
    for (uint32_t level = shared; level + 1 < stack->count && level < shared + FETCHED; level++) {
        uint32_t number = table->parent_slots[parent_slot_of(stack->pcs[stack->count - 1 - level])];
        if (number != 0)
            __builtin_prefetch(&table->known[number - 1], 1);
    }
}

/* The children of a parent; if it has no place yet, an emptied one; NULL if there is none. */
static struct col_stack_children *children_of(struct col_stack_table *table, uintptr_t parent)
{
    uint16_t *slot = &table->parent_slots[parent_slot_of(parent)];
    bool is_new = *slot == 0;
    if (is_new && table->parent_count == COL_STACK_TABLE_PARENTS)
        return NULL;
    if (is_new)
        *slot = (uint16_t)++table->parent_count;
    struct col_stack_children *children = &table->known[*slot - 1];
    if (is_new || children->parent != parent)
        *children = (struct col_stack_children){.parent = parent};
    return children;
}

size_t col_stack_table_bound(const struct col_stack_table *table, const struct col_stack *stack)
{
    uint32_t shared = shared_count(table, stack);
    fetch_children(table, stack, shared);
    return 2 * NUMBER_BYTES + NUMBER_BYTES * (stack->count - shared);
}

static uint8_t *put_number(uint8_t *at, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        *at++ = (uint8_t)(number | 128);
    *at++ = (uint8_t)number;
    return at;
}

static uint64_t zigzag(uintptr_t address, uintptr_t base)
{
    int64_t difference = (int64_t)((uint64_t)address - (uint64_t)base);
    return (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63);
}

/* zigzag << 2 | is_from_child << 1 | 1, which has up to 66 bits: the lowest byte is put by hand. */
static uint8_t *put_address(uint8_t *at, uint64_t zigzag, bool is_from_child)
{
    uint8_t kind = is_from_child ? 3 : 1;
    if (zigzag < 32) {
        *at++ = (uint8_t)(zigzag << 2 | kind);
        return at;
    }
    *at++ = (uint8_t)((zigzag & 31) << 2 | kind | 128);
    return put_number(at, zigzag >> 5);
}

/* Where the address stands among the children; COL_STACK_TABLE_CHILDREN: nowhere. */
static uint32_t place_of(const struct col_stack_children *children, uintptr_t address)
{
    uint32_t place = 0;
    while (place < COL_STACK_TABLE_CHILDREN && children->child[place] != address)
        place++;
    return place;
}

/* A child that is met again changes places with the one before it. */
static void move_up(struct col_stack_children *children, uint32_t place)
{
    uintptr_t child = children->child[place];
    children->child[place] = children->child[place - 1];
    children->child[place - 1] = child;
}

/* A new one comes behind the others, or in place of the last. */
static void add_child(struct col_stack_children *children, uintptr_t address)
{
    uint32_t place = 1;
    while (place < COL_STACK_TABLE_CHILDREN - 1 && children->child[place] != 0)
        place++;
    children->child[place] = address;
}

/* Writes an address that is not among the children. Where there are none it is the first: an address of 0 leaves it at that. */
static uint8_t *put_new_child(struct col_stack_children *children, uintptr_t parent, uintptr_t address, uint8_t *at)
{
    if (children != NULL && children->child[0] != 0 && address != 0) {
        at = put_address(at, zigzag(address, children->child[0]), true);
        add_child(children, address);
        return at;
    }
    if (children != NULL)
        *children = (struct col_stack_children){parent, {address}};
    return put_address(at, zigzag(address, parent), false);
}

static uint8_t *put_frames(struct col_stack_table *table, const struct col_stack *stack, uint32_t shared, uint8_t *at)
{
    uintptr_t parent = shared > 0 ? table->previous[shared - 1] : 0;
    uint64_t run = 0; /* frames that the token at hand is of: one at `run_place`, the others at place 0 */
    uint32_t run_place = 0;
    for (uint32_t level = shared; level < stack->count; level++) {
        uintptr_t address = stack->pcs[stack->count - 1 - level];
        struct col_stack_children *children = children_of(table, parent);
        uint32_t place = children != NULL && address != 0 ? place_of(children, address) : COL_STACK_TABLE_CHILDREN;
        if (place == 0 && run > 0) {
            run++;
        } else {
            if (run > 0)
                at = put_number(at, (run - 1) << 4 | run_place << 1);
            run = place < COL_STACK_TABLE_CHILDREN;
            run_place = place;
            if (run == 0)
                at = put_new_child(children, parent, address, at);
            else if (place > 0)
                move_up(children, place);
        }
        table->previous[level] = parent = address;
    }
    return run > 0 ? put_number(at, (run - 1) << 4 | run_place << 1) : at;
}

size_t col_stack_table_define(struct col_stack_table *table, uint64_t hash, const struct col_stack *stack, uint8_t *out)
{
    uint32_t shared = shared_count(table, stack);
    uint8_t *at = put_number(out, (uint64_t)(table->previous_count - shared) << 3 | stack->end);
    at = put_number(at, stack->count - shared);
    at = put_frames(table, stack, shared, at);
    table->previous_count = stack->count;
    table->interned[slot_of(table, hash)] = (hash & ~INDEX_MASK) | ++table->stack_count;
    return (size_t)(at - out);
}
