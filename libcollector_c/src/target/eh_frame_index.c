/* eh_frame_index.c -- searching the sorted index of .eh_frame_hdr */
#include "target/eh_frame_index.h"
#include "base/sparse.h"

#include <stddef.h>
#include <string.h>

enum {
    CACHE_LINE_BYTES = 64,
    BLOCK_BYTES = 1 << 14, /* of code that shares a hint: the index of 30 or 40 functions */
    HINT_COUNT = 2048,
    LONGEST_HINT = 128, /* pairs */
    LANDMARK_COUNT = 2048,
};

static int32_t pair_word(struct col_eh_frame_index *index, uint64_t pair, unsigned word)
{
    uintptr_t at = index->pairs + pair * COL_EH_FRAME_PAIR_BYTES + word * 4u;
    int32_t value = 0;
    const uint8_t *view = col_safe_read_view(index->proved, at, sizeof value);
    if (view != NULL)
        memcpy(&value, view, sizeof value);
    else
        index->failed = true;
    return value;
}

/*
 * For a block of code the part of an index that its functions are in: first pair, and end << 32. A search that begins there
 * touches one or two cache lines, not a dozen. It may be of an index that is gone, or of another one: what it leads to is
 * checked.
 */
static uint64_t hints[HINT_COUNT] COL_SPARSE;

/*
 * The first addresses that long searches compared, pair << 32 | address: all of them begin with the same few, each in a page
 * of its own. They may be of another index, likewise.
 */
static uint64_t landmarks[LANDMARK_COUNT] COL_SPARSE;

static int32_t landmark(struct col_eh_frame_index *index, uint64_t pair)
{
    uint64_t hash = (index->pairs + pair * COL_EH_FRAME_PAIR_BYTES) * UINT64_C(0x9e3779b97f4a7c15);
    uint64_t *slot = &landmarks[hash >> 32 & (LANDMARK_COUNT - 1)];
    uint64_t known = __atomic_load_n(slot, __ATOMIC_RELAXED);
    if (known >> 32 == pair)
        return (int32_t)known;
    int32_t address = pair_word(index, pair, 0);
    if (!index->failed)
        __atomic_store_n(slot, pair << 32 | (uint32_t)address, __ATOMIC_RELAXED);
    return address;
}

/* Narrows the whole index down to what a search can look at in one or two pages. */
static void narrow(struct col_eh_frame_index *index, intptr_t distance, uint64_t *low, uint64_t *high)
{
    *low = 0;
    *high = index->count;
    while (*high - *low > LONGEST_HINT) {
        uint64_t middle = *low + (*high - *low) / 2;
        if (landmark(index, middle) <= distance)
            *low = middle + 1;
        else
            *high = middle;
    }
}

/* The place in the index where `distance` belongs, if that is between `low` and `high`: all pairs before it begin at or
   before the distance. */
static uint64_t search_between(struct col_eh_frame_index *index, uint64_t low, uint64_t high, intptr_t distance)
{
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (pair_word(index, middle, 0) <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_place(struct col_eh_frame_index *index, uint64_t place, intptr_t distance)
{
    return (place == 0 || pair_word(index, place - 1, 0) <= distance) &&
           (place == index->count || pair_word(index, place, 0) > distance);
}

/* The hint for the block around `pc`, or for a part of it where functions are very small. */
static uint64_t hint_around(struct col_eh_frame_index *index, uint64_t place, uintptr_t pc, intptr_t distance)
{
    intptr_t begin = distance - (intptr_t)(pc % BLOCK_BYTES), end = begin + BLOCK_BYTES;
    uint64_t low = place, high = place;
    while (low > 0 && place - low < LONGEST_HINT / 2 && pair_word(index, low - 1, 0) > begin)
        low--;
    while (high < index->count && high - place < LONGEST_HINT / 2 && pair_word(index, high, 0) < end)
        high++;
    return low | high << 32;
}

static bool search_by_hint(struct col_eh_frame_index *index, uint64_t hint, intptr_t distance, uint64_t *place)
{
    uint64_t low = (uint32_t)hint, high = hint >> 32;
    if (low > high || high > index->count || high - low > LONGEST_HINT)
        return false;
    for (uint64_t pair = low; pair < high; pair += CACHE_LINE_BYTES / COL_EH_FRAME_PAIR_BYTES)
        __builtin_prefetch((const void *)(index->pairs + pair * COL_EH_FRAME_PAIR_BYTES));
    *place = search_between(index, low, high, distance);
    return is_place(index, *place, distance);
}

static uint64_t search_all(struct col_eh_frame_index *index, intptr_t distance)
{
    uint64_t low, high;
    narrow(index, distance, &low, &high);
    uint64_t place = search_between(index, low, high, distance);
    return is_place(index, place, distance) ? place : search_between(index, 0, index->count, distance);
}

bool col_eh_frame_index_search(struct col_eh_frame_index *index, uintptr_t pc, uintptr_t *entry)
{
    intptr_t distance = (intptr_t)(pc - index->header);
    uint64_t *hint = &hints[pc / BLOCK_BYTES % HINT_COUNT];
    uint64_t place;
    if (!search_by_hint(index, __atomic_load_n(hint, __ATOMIC_RELAXED), distance, &place)) {
        place = search_all(index, distance);
        __atomic_store_n(hint, hint_around(index, place, pc, distance), __ATOMIC_RELAXED);
    }
    if (place == 0)
        return false;
    *entry = index->header + (uintptr_t)(intptr_t)pair_word(index, place - 1, 1);
    return !index->failed;
}
