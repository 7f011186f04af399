/* eh_frame.c -- finding and taking apart the entries of .eh_frame */
#include "target/eh_frame.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/cursor.h"

enum {
    /* Tables without index are read from the start; the limit keeps a damaged one from holding up a handler. */
    LONGEST_SCAN_ENTRIES = 100000,
    HEADER_BYTES = 4,
    CACHE_LINE_BYTES = 64,
    PAIR_BYTES = 8,
    BLOCK_BYTES = 1 << 14, /* of code that shares a hint: the index of 30 or 40 functions */
    HINT_COUNT = 2048,
    LONGEST_HINT = 128, /* pairs */
    SELF_RELATIVE_INT32 = COL_POINTER_RELATIVE_TO_SELF | 0x0b,
    SORTED_PAIRS_OF_INT32 = 0x3b, /* the only form of the index that linkers write */
};

/* The common head of an entry: its length, and whose entry it is. */
struct entry {
    const uint8_t *id_at; /* the place that `id` counts back from */
    const uint8_t *body, *end;
    uint32_t id; /* 0 = a CIE, otherwise the distance back to the FDE's CIE */
};

/* False at the end of the table, or when the entry does not lie before `limit`. */
static bool read_entry(const uint8_t *at, const uint8_t *limit, struct entry *entry)
{
    struct col_cursor in = {at, limit, false};
    uint64_t length = col_cursor_u32(&in);
    if (length == 0xffffffff)
        length = col_cursor_u64(&in);
    if (in.failed || length < sizeof entry->id || length > (uint64_t)(limit - in.at))
        return false;
    entry->id_at = in.at;
    entry->end = in.at + length;
    entry->id = col_cursor_u32(&in);
    entry->body = in.at;
    return true;
}

/* Reads what the letters of the augmentation string announce. The rest of the data can be skipped: its length is
   known. False for a letter that changes the meaning of the entry in a way that we do not know. */
static bool read_augmentation(struct col_cursor *in, const char *letters, struct col_eh_cie *cie)
{
    if (letters[0] == '\0')
        return true;
    if (letters[0] != 'z')
        return false;
    cie->has_augmentation_data = true;
    uint64_t size = col_cursor_uleb(in);
    const uint8_t *begin = in->at;
    for (const char *letter = letters + 1; *letter && !in->failed; letter++)
        switch (*letter) {
        case 'R': cie->pointer_encoding = col_cursor_u8(in); break;
        case 'L': col_cursor_u8(in); break;
        case 'P': {
            uint8_t encoding = col_cursor_u8(in);
            col_cursor_pointer(in, encoding, 0);
            break;
        }
        case 'S':
            cie->is_signal_frame = true;
            break;
        case 'B': /* aarch64: signed with the other key */
        case 'G':
            break; /* aarch64: tagged stack */
        default:
            return false;
        }
    in->at = begin;
    col_cursor_skip(in, size);
    return !in->failed;
}

/* The head of nearly all CIEs of x86-64, up to their instructions: version 1, "zR", factors 1 and -8, return address in 16,
   pointers relative to themselves of four bytes. */
static const uint8_t common_cie[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, SELF_RELATIVE_INT32};

static bool read_common_cie(const struct entry *entry, struct col_eh_cie *cie)
{
    if ((size_t)(entry->end - entry->body) < sizeof common_cie ||
        memcmp(entry->body, common_cie, sizeof common_cie) != 0)
        return false;
    *cie = (struct col_eh_cie){.instructions = entry->body + sizeof common_cie,
                               .end = entry->end,
                               .code_factor = 1,
                               .data_factor = -8,
                               .return_column = 16,
                               .pointer_encoding = SELF_RELATIVE_INT32,
                               .has_augmentation_data = true};
    return true;
}

static bool read_cie(const uint8_t *at, const uint8_t *limit, struct col_eh_cie *cie)
{
    struct entry entry;
    if (!read_entry(at, limit, &entry) || entry.id != 0)
        return false;
    if (read_common_cie(&entry, cie))
        return true;
    struct col_cursor in = {entry.body, entry.end, false};
    *cie = (struct col_eh_cie){.end = entry.end};
    uint8_t version = col_cursor_u8(&in);
    const char *letters = (const char *)in.at;
    while (col_cursor_u8(&in) != 0 && !in.failed)
        ;
    if (version == 4)
        col_cursor_skip(&in, 2); /* sizes of an address and of a segment selector */
    cie->code_factor = col_cursor_uleb(&in);
    cie->data_factor = col_cursor_sleb(&in);
    cie->return_column = version == 1 ? col_cursor_u8(&in) : col_cursor_uleb(&in);
    if (in.failed || (version != 1 && version != 3 && version != 4) || !read_augmentation(&in, letters, cie))
        return false;
    cie->instructions = in.at;
    return true;
}

static bool read_fde(const struct entry *entry, const uint8_t *start, const uint8_t *lowest, const uint8_t *limit,
                     uintptr_t data, struct col_eh_fde *fde)
{
    if (entry->id == 0 || (uintptr_t)entry->id_at - entry->id < (uintptr_t)lowest)
        return false;
    if (!read_cie(entry->id_at - entry->id, limit, &fde->cie))
        return false;
    struct col_cursor in = {entry->body, entry->end, false};
    fde->start = start;
    fde->end = entry->end;
    fde->low = col_cursor_pointer(&in, fde->cie.pointer_encoding, data);
    fde->high = fde->low + col_cursor_pointer(&in, fde->cie.pointer_encoding & 0x0f, 0);
    if (fde->cie.has_augmentation_data)
        col_cursor_skip(&in, col_cursor_uleb(&in));
    fde->instructions = in.at;
    return !in.failed && (fde->cie.pointer_encoding & COL_POINTER_INDIRECT) == 0;
}

/* The C library gives some programs' code segment alone as the module, and the tables lie behind it. */
static bool holds_its_tables(const struct col_code_module *module)
{
    return (uintptr_t)module->header >= module->low && (uintptr_t)module->header < module->high;
}

/* The bytes that a module's entries may lie in. A registered table does not say where it ends. */
static const uint8_t *lowest_of(const struct col_code_module *module)
{
    return holds_its_tables(module) ? (const uint8_t *)module->low : NULL;
}

static const uint8_t *limit_of(const struct col_code_module *module)
{
    return holds_its_tables(module) ? (const uint8_t *)module->high : (const uint8_t *)PTRDIFF_MAX;
}

static bool scan(const struct col_code_module *module, const uint8_t *at, uintptr_t pc, struct col_eh_fde *fde)
{
    struct entry entry;
    for (int i = 0; i < LONGEST_SCAN_ENTRIES && read_entry(at, limit_of(module), &entry); i++, at = entry.end)
        if (read_fde(&entry, at, lowest_of(module), limit_of(module), (uintptr_t)module->header, fde) && pc >= fde->low
            && pc < fde->high)
            return true;
    return false;
}

/* The index: pairs of int32, both relative to the header: {first address of a function, its entry}. */
static int32_t pair_word(const uint8_t *pairs, uint64_t pair, unsigned word)
{
    int32_t value;
    memcpy(&value, pairs + pair * PAIR_BYTES + word * 4u, sizeof value);
    return value;
}

/*
 * For a block of code the part of an index that its functions are in: first pair, and end << 32. A search that begins there
 * touches one or two cache lines, not a dozen. It may be of an index that is gone, or of another one: what it leads to is
 * checked.
 */
static _Atomic uint64_t hints[HINT_COUNT];

/* The place in the index where `distance` belongs, if that is between `low` and `high`: all pairs before it begin at or
   before the distance. */
static uint64_t search_between(const uint8_t *pairs, uint64_t low, uint64_t high, intptr_t distance)
{
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (pair_word(pairs, middle, 0) <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_place(const uint8_t *pairs, uint64_t count, uint64_t place, intptr_t distance)
{
    return (place == 0 || pair_word(pairs, place - 1, 0) <= distance) && (place == count || pair_word(pairs, place, 0) > distance);
}

/* The hint for the block around `pc`, or for a part of it where functions are very small. */
static uint64_t hint_around(const uint8_t *pairs, uint64_t count, uint64_t place, uintptr_t pc, intptr_t distance)
{
    intptr_t begin = distance - (intptr_t)(pc % BLOCK_BYTES), end = begin + BLOCK_BYTES;
    uint64_t low = place, high = place;
    while (low > 0 && place - low < LONGEST_HINT / 2 && pair_word(pairs, low - 1, 0) > begin)
        low--;
    while (high < count && high - place < LONGEST_HINT / 2 && pair_word(pairs, high, 0) < end)
        high++;
    return low | high << 32;
}

static bool search_by_hint(const uint8_t *pairs, uint64_t count, uint64_t hint, intptr_t distance, uint64_t *place)
{
    uint64_t low = (uint32_t)hint, high = hint >> 32;
    if (low > high || high > count || high - low > LONGEST_HINT)
        return false;
    for (uint64_t pair = low; pair < high; pair += CACHE_LINE_BYTES / PAIR_BYTES)
        __builtin_prefetch(pairs + pair * PAIR_BYTES);
    *place = search_between(pairs, low, high, distance);
    return is_place(pairs, count, *place, distance);
}

/* The entry of the last function that begins at or before `pc`, or NULL. */
static const uint8_t *search_index(const uint8_t *header, const uint8_t *pairs, uint64_t count, uintptr_t pc)
{
    intptr_t distance = (intptr_t)(pc - (uintptr_t)header);
    _Atomic uint64_t *hint = &hints[pc / BLOCK_BYTES % HINT_COUNT];
    uint64_t place;
    if (!search_by_hint(pairs, count, atomic_load_explicit(hint, memory_order_relaxed), distance, &place)) {
        place = search_between(pairs, 0, count, distance);
        atomic_store_explicit(hint, hint_around(pairs, count, place, pc, distance), memory_order_relaxed);
    }
    return place == 0 ? NULL : (const uint8_t *)((uintptr_t)header + (uintptr_t)(intptr_t)pair_word(pairs, place - 1, 1));
}

static bool find_by_header(const struct col_code_module *module, uintptr_t pc, struct col_eh_fde *fde)
{
    const uint8_t *header = module->header, *limit = limit_of(module);
    struct col_cursor in = {header, limit, false};
    uint8_t kinds[HEADER_BYTES]; /* version, then the encodings of frames, count, index */
    if (!col_cursor_copy(&in, kinds, sizeof kinds) || kinds[0] != 1)
        return false;
    uintptr_t frames = kinds[1] == COL_POINTER_OMITTED ? 0 : col_cursor_pointer(&in, kinds[1], (uintptr_t)header);
    uint64_t count = kinds[2] == COL_POINTER_OMITTED ? 0 : col_cursor_pointer(&in, kinds[2], (uintptr_t)header);
    if (in.failed)
        return false;
    if (count == 0 || kinds[3] != SORTED_PAIRS_OF_INT32)
        return frames >= (uintptr_t)lowest_of(module) && frames < (uintptr_t)limit && scan(module, (const uint8_t *)frames, pc, fde);
    if (count > (uint64_t)(limit - in.at) / PAIR_BYTES)
        return false;
    const uint8_t *start = search_index(header, in.at, count, pc);
    struct entry entry;
    __builtin_prefetch((const void *)((uintptr_t)start + CACHE_LINE_BYTES)); /* its instructions are asked for next */
    return start >= lowest_of(module) && start < limit && read_entry(start, limit, &entry)
           && read_fde(&entry, start, lowest_of(module), limit, (uintptr_t)header, fde) && pc >= fde->low
           && pc < fde->high;
}

bool col_eh_frame_find(const struct col_code_module *module, uintptr_t pc, struct col_eh_fde *fde)
{
    if (module->frames)
        return scan(module, module->frames, pc, fde);
    return module->header && find_by_header(module, pc, fde);
}

bool col_eh_frame_extent(const uint8_t *frames, uintptr_t *low, uintptr_t *high)
{
    const uint8_t *limit = (const uint8_t *)PTRDIFF_MAX, *at = frames;
    struct entry entry;
    struct col_eh_fde fde;
    *low = UINTPTR_MAX;
    *high = 0;
    for (int i = 0; i < LONGEST_SCAN_ENTRIES && read_entry(at, limit, &entry); i++, at = entry.end) {
        if (!read_fde(&entry, at, NULL, limit, 0, &fde))
            continue;
        *low = fde.low < *low ? fde.low : *low;
        *high = fde.high > *high ? fde.high : *high;
    }
    return *low < *high;
}
