/* java_code.c -- the code that HotSpot makes: what lies at an address, and which methods were compiled into it
 *
 * src/hotspot/share/memory/heap.cpp (find_block_for), code/codeBlob.hpp, code/nmethod.hpp, code/pcDesc.hpp, code/scopeDesc.cpp. What a thread stands on stays
 * where it is; all else is checked before it is believed.
 */
#include "target/java_code.h"

#include "target/java_method.h"

enum {
    MOST_HEAPS = 8,
    MOST_HOPS = 4096, /* each of up to 254 segments */
    FREE_SEGMENT = 0xFF,
    LARGEST_BLOB = 64 << 20,
    LARGEST_FRAME = 1 << 20,
    LAST_BYTE = 192, /* of a number: below it */
};

typedef const struct col_java_layout layout_t;

/* ---- finding ---- */

static uintptr_t heap_of(layout_t *layout, uintptr_t pc)
{
    uintptr_t heaps = col_java_get_pointer(layout, COL_JAVA_HEAPS, 0);
    if (heaps == 0)
        return 0;
    int64_t count = col_java_get(layout, COL_JAVA_ARRAY_LENGTH, heaps);
    uintptr_t data = col_java_get_pointer(layout, COL_JAVA_ARRAY_DATA, heaps);
    for (int64_t i = 0; data != 0 && i < count && i < MOST_HEAPS; i++) {
        uintptr_t heap = col_java_word(layout, data + (uintptr_t)i * sizeof heap);
        if (heap == 0)
            continue;
        uintptr_t memory = heap + layout->fields[COL_JAVA_HEAP_MEMORY].at;
        if (pc >= col_java_get_pointer(layout, COL_JAVA_SPACE_LOW, memory) &&
            pc < col_java_get_pointer(layout, COL_JAVA_SPACE_HIGH, memory))
            return heap;
    }
    return 0;
}

/* The block that a place in a heap belongs to: each segment's byte tells how far back it begins, or part of the way. */
static uintptr_t block_of(layout_t *layout, uintptr_t heap, uintptr_t pc)
{
    uintptr_t low = col_java_get_pointer(layout, COL_JAVA_SPACE_LOW, heap + layout->fields[COL_JAVA_HEAP_MEMORY].at);
    uintptr_t map = heap + layout->fields[COL_JAVA_HEAP_SEGMENTS].at;
    uintptr_t bytes = col_java_get_pointer(layout, COL_JAVA_SPACE_LOW, map),
              end = col_java_get_pointer(layout, COL_JAVA_SPACE_HIGH, map);
    unsigned bits = (unsigned)col_java_get(layout, COL_JAVA_HEAP_SEGMENT_BITS, heap);
    uintptr_t at = bits < 32 ? (pc - low) >> bits : UINTPTR_MAX;
    if (end < bytes || at >= end - bytes)
        return 0;
    for (unsigned i = 0; i < MOST_HOPS; i++) {
        uint8_t back = col_java_byte(layout, bytes + at);
        if (back == 0)
            return low + (at << bits);
        if (back == FREE_SEGMENT || back > at)
            return 0;
        at -= back;
    }
    return 0;
}

/* By the name, which is one of the library's own. */
static enum col_java_code kind_of(const struct col_java_runtime *java, const struct col_java_blob *blob)
{
    uintptr_t name = col_java_get_pointer(&java->layout, COL_JAVA_BLOB_NAME, blob->start);
    if (name < java->low || name > java->high - sizeof name)
        return blob->frame_bytes != 0 ? COL_JAVA_CODE_STUB : COL_JAVA_CODE_BARE; /* some make theirs up */
    uint64_t word = col_java_word(&java->layout, name);
    bool is_method =
        word == UINT64_C(0x00646f6874656d6e) || word == UINT64_C(0x6e2065766974616e); /* "nmethod", "native n" */
    return is_method ? COL_JAVA_CODE_METHOD : blob->frame_bytes != 0 ? COL_JAVA_CODE_STUB : COL_JAVA_CODE_BARE;
}

static bool is_interpreter(layout_t *layout, uintptr_t pc)
{
    uintptr_t queue = col_java_get_pointer(layout, COL_JAVA_QUEUE, 0);
    return queue != 0 && pc - col_java_get_pointer(layout, COL_JAVA_QUEUE_BUFFER, queue) <
                             (uintptr_t)col_java_get(layout, COL_JAVA_QUEUE_LIMIT, queue);
}

bool col_java_code_find(const struct col_java_runtime *java, uintptr_t pc, struct col_java_blob *blob)
{
    layout_t *layout = &java->layout;
    uintptr_t heap = heap_of(layout, pc), block = heap != 0 ? block_of(layout, heap, pc) : 0;
    *blob = (struct col_java_blob){.kind = COL_JAVA_CODE_INTERPRETER};
    if (is_interpreter(layout, pc))
        return true;
    if (block == 0)
        return false;
    blob->start = block + layout->numbers[COL_JAVA_HEADER_BYTES];
    int64_t bytes = col_java_get(layout, COL_JAVA_BLOB_SIZE, blob->start),
            frame_words = col_java_get(layout, COL_JAVA_BLOB_FRAME_SIZE, blob->start),
            frame_is_made = col_java_get(layout, COL_JAVA_BLOB_FRAME_COMPLETE, blob->start);
    blob->code = col_java_has(layout, COL_JAVA_BLOB_CODE_BEGIN)
                     ? col_java_get_pointer(layout, COL_JAVA_BLOB_CODE_BEGIN, blob->start)
                     : blob->start + (uintptr_t)col_java_get(layout, COL_JAVA_BLOB_CODE_OFFSET, blob->start);
    blob->end = blob->start + (uintptr_t)bytes;
    if (bytes <= 0 || bytes > LARGEST_BLOB || pc < blob->code || pc >= blob->end || blob->code < blob->start ||
        frame_words < 0 || frame_words > LARGEST_FRAME / 8)
        return false;
    blob->frame_bytes = (uint32_t)frame_words * 8;
    blob->frame_is_made = blob->code + (uintptr_t)(frame_is_made > 0 ? frame_is_made : 0);
    blob->kind = kind_of(java, blob);
    if (blob->kind == COL_JAVA_CODE_METHOD)
        blob->method = col_java_get_pointer(layout, COL_JAVA_COMPILED_METHOD, blob->start);
    return true;
}

uintptr_t col_java_code_entry(const struct col_java_runtime *java, const struct col_java_blob *blob)
{
    layout_t *layout = &java->layout;
    if (col_java_has(layout, COL_JAVA_COMPILED_VERIFIED_ENTRY))
        return col_java_get_pointer(layout, COL_JAVA_COMPILED_VERIFIED_ENTRY, blob->start);
    return blob->code + (uintptr_t)col_java_get(layout, COL_JAVA_COMPILED_VERIFIED_OFFSET, blob->start);
}

bool col_java_code_is_deoptimizer(const struct col_java_runtime *java, const struct col_java_blob *blob, uintptr_t pc)
{
    static const enum col_java_slot pointers[] = {COL_JAVA_COMPILED_DEOPT_HANDLER, COL_JAVA_COMPILED_DEOPT_HANDLER_2},
                                    offsets[] = {COL_JAVA_COMPILED_DEOPT_OFFSET, COL_JAVA_COMPILED_DEOPT_OFFSET_2};
    layout_t *layout = &java->layout;
    if (blob->kind != COL_JAVA_CODE_METHOD)
        return false;
    for (unsigned i = 0; i < 2; i++)
        if ((col_java_has(layout, pointers[i]) && pc == col_java_get_pointer(layout, pointers[i], blob->start)) ||
            (col_java_has(layout, offsets[i]) &&
             pc == blob->start + (uintptr_t)col_java_get(layout, offsets[i], blob->start)))
            return true;
    return false;
}

uintptr_t col_java_code_original_pc(const struct col_java_runtime *java, const struct col_java_blob *blob, uintptr_t pc,
                                    uintptr_t sp, struct col_stack_reader *reader)
{
    uintptr_t original = 0;
    if (!col_java_code_is_deoptimizer(java, blob, pc))
        return pc;
    uintptr_t at = sp + (uintptr_t)col_java_get(&java->layout, COL_JAVA_COMPILED_ORIGINAL_PC, blob->start);
    return at - sp < blob->frame_bytes && col_safe_read_stack(reader, at, &original) ? original : 0;
}

/* ---- which methods ---- */

/* The debug information of one compiled method. */
struct scopes {
    uintptr_t pcs, pcs_end;
    uintptr_t data, data_end;
    uintptr_t metadata, metadata_end; /* numbered from 1 on */
    uint32_t excess;                  /* from 21 on no byte of a number is 0: each counts one less */
    bool is_proved;                   /* all of it lies with the code */
    struct col_proved_pages *proved;  /* else pages of it */
};

static bool is_inside(const struct col_java_blob *blob, uintptr_t low, uintptr_t high)
{
    return low >= blob->start && low < high && high <= blob->end;
}

/* Up to 22 all of it lies with the code. */
static bool find_scopes_inside(layout_t *layout, const struct col_java_blob *blob, struct scopes *scopes)
{
    if (!col_java_has(layout, COL_JAVA_COMPILED_METADATA) || !col_java_has(layout, COL_JAVA_COMPILED_DEPENDENCIES))
        return false;
    scopes->pcs = blob->start + (uintptr_t)col_java_get(layout, COL_JAVA_COMPILED_SCOPES_PCS, blob->start);
    scopes->pcs_end = blob->start + (uintptr_t)col_java_get(layout, COL_JAVA_COMPILED_DEPENDENCIES, blob->start);
    scopes->data = col_java_get_pointer(layout, COL_JAVA_COMPILED_SCOPES_DATA_BEGIN, blob->start);
    scopes->data_end = scopes->pcs;
    scopes->metadata = blob->start + (uintptr_t)col_java_get(layout, COL_JAVA_COMPILED_METADATA, blob->start);
    scopes->metadata_end = scopes->data;
    scopes->is_proved = true;
    return is_inside(blob, scopes->pcs, scopes->pcs_end) && is_inside(blob, scopes->data, scopes->data_end) &&
           is_inside(blob, scopes->metadata, scopes->metadata_end);
}

/* Later in memory of its own, beside what changes and what does not. */
static bool find_scopes_outside(layout_t *layout, const struct col_java_blob *blob, struct scopes *scopes)
{
    if (!col_java_has(layout, COL_JAVA_COMPILED_IMMUTABLE_DATA) || !col_java_has(layout, COL_JAVA_BLOB_MUTABLE_DATA) ||
        !col_java_has(layout, COL_JAVA_BLOB_RELOCATION_SIZE) || !col_java_has(layout, COL_JAVA_COMPILED_SCOPES_DATA))
        return false;
    uintptr_t fixed = col_java_get_pointer(layout, COL_JAVA_COMPILED_IMMUTABLE_DATA, blob->start);
    int64_t fixed_bytes = col_java_get(layout, COL_JAVA_COMPILED_IMMUTABLE_BYTES, blob->start),
            changing_bytes = col_java_get(layout, COL_JAVA_BLOB_MUTABLE_BYTES, blob->start);
    uintptr_t changing = col_java_get_pointer(layout, COL_JAVA_BLOB_MUTABLE_DATA, blob->start);
    scopes->pcs = fixed + (uintptr_t)col_java_get(layout, COL_JAVA_COMPILED_SCOPES_PCS, blob->start);
    scopes->pcs_end = scopes->data =
        fixed + (uintptr_t)col_java_get(layout, COL_JAVA_COMPILED_SCOPES_DATA, blob->start);
    scopes->data_end = fixed + (uintptr_t)fixed_bytes;
    scopes->metadata =
        changing + (((uintptr_t)col_java_get(layout, COL_JAVA_BLOB_RELOCATION_SIZE, blob->start) + 7) & ~(uintptr_t)7);
    scopes->metadata_end = changing + (uintptr_t)changing_bytes;
    scopes->is_proved = false;
    return fixed_bytes > 0 && fixed_bytes < LARGEST_BLOB && changing_bytes > 0 && changing_bytes < LARGEST_BLOB &&
           scopes->pcs >= fixed && scopes->pcs < scopes->pcs_end && scopes->data < scopes->data_end &&
           scopes->metadata >= changing && scopes->metadata < scopes->metadata_end;
}

static bool is_readable(const struct scopes *scopes, uintptr_t at, size_t bytes)
{
    return scopes->is_proved || col_safe_read_prove(scopes->proved, at, bytes);
}

static int32_t number_at(layout_t *layout, const struct scopes *scopes, enum col_java_slot slot, uintptr_t at)
{
    return is_readable(scopes, at, layout->numbers[COL_JAVA_PC_BYTES]) ? (int32_t)col_java_get(layout, slot, at)
                                                                       : INT32_MAX;
}

/* Where the scopes of an offset in the code begin: of the first entry that is not before it. Negative: nowhere. */
static int32_t find_scope(layout_t *layout, const struct scopes *scopes, int64_t offset)
{
    uintptr_t bytes = layout->numbers[COL_JAVA_PC_BYTES], low = 0, high = (scopes->pcs_end - scopes->pcs) / bytes;
    while (low < high) {
        uintptr_t middle = (low + high) / 2;
        if (number_at(layout, scopes, COL_JAVA_PC_OFFSET, scopes->pcs + middle * bytes) < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return scopes->pcs + (low + 1) * bytes <= scopes->pcs_end
               ? number_at(layout, scopes, COL_JAVA_PC_SCOPE, scopes->pcs + low * bytes)
               : -1;
}

static uint32_t next_number(layout_t *layout, const struct scopes *scopes, uintptr_t *at)
{
    uint32_t sum = 0;
    for (unsigned shift = 0; shift <= 24 && *at < scopes->data_end; shift += 6) {
        uint32_t byte = col_java_byte(layout, (*at)++);
        sum += (byte - scopes->excess) << shift;
        if (byte < LAST_BYTE)
            break;
    }
    return sum;
}

/* The methods at a scope, from the innermost out. 0: it does not lead to the method that was compiled. */
static size_t read_scopes(const struct col_java_runtime *java, const struct col_java_blob *blob,
                          const struct scopes *scopes, int32_t scope, uintptr_t *addresses, size_t max)
{
    size_t count = 0;
    uintptr_t method = 0;
    struct col_java_method known;
    while (scope > 0 && count < max) {
        uintptr_t at = scopes->data + (uintptr_t)scope;
        if (at >= scopes->data_end || !is_readable(scopes, at, 16))
            return 0;
        int32_t outer = (int32_t)next_number(&java->layout, scopes, &at);
        uintptr_t name_at = scopes->metadata + ((uintptr_t)next_number(&java->layout, scopes, &at) - 1) * sizeof method;
        uint32_t bytecode = next_number(&java->layout, scopes, &at) - 1;
        if (outer >= scope || name_at < scopes->metadata || name_at + sizeof method > scopes->metadata_end ||
            !is_readable(scopes, name_at, sizeof method))
            return 0;
        method = col_java_word(&java->layout, name_at);
        if (!col_java_method_find(java, method, true, &known))
            return 0;
        addresses[count++] =
            col_java_method_address(&known, bytecode, outer > 0 ? COL_JAVA_INLINED : COL_JAVA_COMPILED);
        scope = outer;
    }
    return scope == 0 && method == blob->method ? count : 0;
}

size_t col_java_code_methods(const struct col_java_runtime *java, const struct col_java_blob *blob, uintptr_t pc,
                             bool is_exact, struct col_proved_pages *proved, uintptr_t *addresses, size_t max)
{
    layout_t *layout = &java->layout;
    struct scopes scopes = {.excess = layout->numbers[COL_JAVA_HAS_LINES_LATER] != 0, .proved = proved};
    struct col_java_method known;
    size_t count = 0;
    if (find_scopes_inside(layout, blob, &scopes) || find_scopes_outside(layout, blob, &scopes)) {
        int32_t scope = find_scope(layout, &scopes, (int64_t)(pc - blob->code) + is_exact);
        count = read_scopes(java, blob, &scopes, scope, addresses, max);
    }
    if (count == 0 && max > 0 && col_java_method_find(java, blob->method, true, &known))
        addresses[count++] = col_java_method_address(&known, 0, COL_JAVA_COMPILED);
    return count;
}
