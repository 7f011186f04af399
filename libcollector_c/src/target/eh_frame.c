/* eh_frame.c -- finding and taking apart the entries of .eh_frame */
#include "target/eh_frame.h"

#include <stddef.h>

#include "base/cursor.h"
#include "target/eh_frame_index.h"

enum {
    /* Tables without index are read from the start; the limit keeps a damaged one from holding up a handler. */
    LONGEST_SCAN_ENTRIES = 100000,
    LONGEST_ENTRY_BYTES = 1 << 17, /* the longest of a C compiler has 20,000 bytes */
    LARGEST_REGISTERED_BYTES = 1 << 28,
    HEADER_BYTES = 4,
    LONGEST_HEADER_BYTES = 20,
    CACHE_LINE_BYTES = 64,
    SELF_RELATIVE_INT32 = COL_POINTER_RELATIVE_TO_SELF | 0x0b,
    SORTED_PAIRS_OF_INT32 = 0x3b, /* the only form of the index that linkers write */
};

/* The common head of an entry: its length, and whose entry it is. */
struct entry {
    const uint8_t *id_at; /* the place that `id` counts back from */
    const uint8_t *body, *end;
    uintptr_t to_original; /* as in struct col_cursor */
    uint32_t id;           /* 0 = a CIE, otherwise the distance back to the FDE's CIE */
};

/* Where a module's tables may be read. */
struct tables {
    uintptr_t low, high;
    struct col_proved_pages *proved;
};

/* A cursor over these bytes. False, and nothing to read, if they are not all there. */
static bool open_bytes(const struct tables *tables, uintptr_t at, uint64_t bytes, struct col_cursor *in)
{
    bool is_inside = at >= tables->low && at <= tables->high && bytes <= tables->high - at;
    const uint8_t *view = is_inside ? col_safe_read_view(tables->proved, at, bytes) : NULL;
    bool is_there = view != NULL;
    *in = (struct col_cursor){view, is_there ? view + bytes : view, !is_there, at - (uintptr_t)view};
    return is_there;
}

/* False at the end of the table, or when not all of the entry can be read. */
static bool read_entry(const struct tables *tables, uintptr_t at, struct entry *entry)
{
    struct col_cursor in;
    if (!open_bytes(tables, at, sizeof(uint32_t), &in))
        return false;
    uint64_t length = col_cursor_u32(&in);
    at += sizeof(uint32_t);
    if (length == 0xffffffff) {
        if (!open_bytes(tables, at, sizeof length, &in))
            return false;
        length = col_cursor_u64(&in);
        at += sizeof length;
    }
    if (length < sizeof entry->id || length > LONGEST_ENTRY_BYTES || !open_bytes(tables, at, length, &in))
        return false;
    entry->id_at = in.at;
    entry->end = in.end;
    entry->to_original = in.to_original;
    entry->id = col_cursor_u32(&in);
    entry->body = in.at;
    return true;
}

/* Reads what the letters of the augmentation string announce. The rest of the data can be skipped: its length is
   known. False for a letter that changes the meaning of the entry in a way that we do not know. */
static bool read_augmentation(struct col_cursor *in, const uint8_t *letters, size_t count, struct col_eh_cie *cie)
{
    if (count == 0)
        return true;
    if (letters[0] != 'z')
        return false;
    cie->has_augmentation_data = true;
    uint64_t size = col_cursor_uleb(in);
    const uint8_t *begin = in->at;
    for (size_t i = 1; i < count && !in->failed; i++)
        switch (letters[i]) {
        case 'R':
            cie->pointer_encoding = col_cursor_u8(in);
            break;
        case 'L':
            col_cursor_u8(in);
            break;
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

static bool read_cie(const struct tables *tables, uintptr_t at, struct col_eh_cie *cie)
{
    struct entry entry;
    if (!read_entry(tables, at, &entry) || entry.id != 0)
        return false;
    if (read_common_cie(&entry, cie))
        return true;
    struct col_cursor in = {entry.body, entry.end, false, entry.to_original};
    *cie = (struct col_eh_cie){.end = entry.end};
    uint8_t version = col_cursor_u8(&in);
    const uint8_t *letters = in.at;
    while (col_cursor_u8(&in) != 0 && !in.failed)
        ;
    size_t letter_count = (size_t)(in.at - letters) - !in.failed; /* without the zero */
    if (version == 4)
        col_cursor_skip(&in, 2); /* sizes of an address and of a segment selector */
    cie->code_factor = col_cursor_uleb(&in);
    cie->data_factor = col_cursor_sleb(&in);
    cie->return_column = version == 1 ? col_cursor_u8(&in) : col_cursor_uleb(&in);
    if (in.failed || (version != 1 && version != 3 && version != 4) ||
        !read_augmentation(&in, letters, letter_count, cie))
        return false;
    cie->instructions = in.at;
    return true;
}

static bool read_fde(const struct tables *tables, const struct entry *entry, uintptr_t start, uintptr_t data,
                     struct col_eh_fde *fde)
{
    if (entry->id == 0 || !read_cie(tables, (uintptr_t)entry->id_at + entry->to_original - entry->id, &fde->cie))
        return false;
    struct col_cursor in = {entry->body, entry->end, false, entry->to_original};
    fde->start = (const uint8_t *)(start - entry->to_original);
    fde->end = entry->end;
    fde->to_original = entry->to_original;
    fde->low = col_cursor_pointer(&in, fde->cie.pointer_encoding, data);
    fde->high = fde->low + col_cursor_pointer(&in, fde->cie.pointer_encoding & 0x0f, 0);
    if (fde->cie.has_augmentation_data)
        col_cursor_skip(&in, col_cursor_uleb(&in));
    fde->instructions = in.at;
    return !in.failed && (fde->cie.pointer_encoding & COL_POINTER_INDIRECT) == 0;
}

static bool covers(const struct col_eh_fde *fde, uintptr_t pc)
{
    return pc >= fde->low && pc < fde->high;
}

static bool scan(const struct tables *tables, uintptr_t at, uintptr_t data, uintptr_t pc, struct col_eh_fde *fde)
{
    struct entry entry;
    for (int i = 0; i < LONGEST_SCAN_ENTRIES && read_entry(tables, at, &entry);
         i++, at = (uintptr_t)entry.end + entry.to_original)
        if (read_fde(tables, &entry, at, data, fde) && covers(fde, pc))
            return true;
    return false;
}

static bool find_by_index(const struct tables *tables, struct col_eh_frame_index *index, uintptr_t pc,
                          struct col_eh_fde *fde)
{
    uintptr_t start;
    struct entry entry;
    if (!col_eh_frame_index_search(index, pc, &start))
        return false;
    __builtin_prefetch((const void *)(start + CACHE_LINE_BYTES)); /* its instructions are asked for next */
    return read_entry(tables, start, &entry) && read_fde(tables, &entry, start, index->header, fde) && covers(fde, pc);
}

static bool find_by_header(const struct tables *tables, uintptr_t header, uintptr_t pc, struct col_eh_fde *fde)
{
    struct col_cursor in;
    uint8_t kinds[HEADER_BYTES]; /* version, then the encodings of frames, count, index */
    if (!open_bytes(tables, header, LONGEST_HEADER_BYTES, &in) || !col_cursor_copy(&in, kinds, sizeof kinds) ||
        kinds[0] != 1)
        return false;
    uintptr_t frames = kinds[1] == COL_POINTER_OMITTED ? 0 : col_cursor_pointer(&in, kinds[1], header);
    uint64_t count = kinds[2] == COL_POINTER_OMITTED ? 0 : col_cursor_pointer(&in, kinds[2], header);
    if (in.failed)
        return false;
    if (count == 0 || kinds[3] != SORTED_PAIRS_OF_INT32)
        return scan(tables, frames, header, pc, fde);
    struct col_eh_frame_index index = {tables->proved, header, (uintptr_t)in.at + in.to_original, count, false};
    return count <= (tables->high - index.pairs) / COL_EH_FRAME_PAIR_BYTES && find_by_index(tables, &index, pc, fde);
}

bool col_eh_frame_find(const struct col_code_module *module, uintptr_t pc, struct col_proved_pages *proved,
                       struct col_eh_fde *fde)
{
    struct tables tables = {module->tables_low, module->tables_high, proved};
    if (module->frames)
        return scan(&tables, (uintptr_t)module->frames, 0, pc, fde);
    return module->header && find_by_header(&tables, (uintptr_t)module->header, pc, fde);
}

bool col_eh_frame_measure(const uint8_t *frames, struct col_code_module *module)
{
    struct col_proved_pages proved = {.memory = NULL};
    uintptr_t at = (uintptr_t)frames;
    struct tables tables = {at, at < UINTPTR_MAX - LARGEST_REGISTERED_BYTES ? at + LARGEST_REGISTERED_BYTES : at,
                            &proved};
    struct entry entry;
    struct col_eh_fde fde;
    *module = (struct col_code_module){.low = UINTPTR_MAX, .frames = frames, .tables_low = at};
    for (int i = 0; i < LONGEST_SCAN_ENTRIES && read_entry(&tables, at, &entry); i++, at = (uintptr_t)entry.end) {
        if (!read_fde(&tables, &entry, at, 0, &fde))
            continue;
        module->low = fde.low < module->low ? fde.low : module->low;
        module->high = fde.high > module->high ? fde.high : module->high;
    }
    module->tables_high = at;
    return module->low < module->high;
}
