/* java_layout.h -- where HotSpot keeps what a stack is made of, as it tells debuggers itself (vmStructs) */
#ifndef COL_TARGET_JAVA_LAYOUT_H
#define COL_TARGET_JAVA_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/safe_read.h"

/* What is looked up: fields of its classes, and static ones, of which the place is an address. */
enum col_java_slot {
    COL_JAVA_HEAPS,
    COL_JAVA_LOW_BOUND,
    COL_JAVA_HIGH_BOUND,
    COL_JAVA_ARRAY_LENGTH,
    COL_JAVA_ARRAY_DATA,
    COL_JAVA_HEAP_MEMORY,
    COL_JAVA_HEAP_SEGMENTS,
    COL_JAVA_HEAP_SEGMENT_BITS,
    COL_JAVA_SPACE_LOW,
    COL_JAVA_SPACE_HIGH,
    COL_JAVA_BLOB_NAME,
    COL_JAVA_BLOB_SIZE,
    COL_JAVA_BLOB_FRAME_COMPLETE,
    COL_JAVA_BLOB_FRAME_SIZE,
    COL_JAVA_QUEUE,
    COL_JAVA_QUEUE_BUFFER,
    COL_JAVA_QUEUE_LIMIT,
    COL_JAVA_CALL_STUB_RETURN,
    COL_JAVA_COMPILED_METHOD,
    COL_JAVA_COMPILED_ORIGINAL_PC,
    COL_JAVA_COMPILED_SCOPES_PCS,
    COL_JAVA_PC_OFFSET,
    COL_JAVA_PC_SCOPE,
    COL_JAVA_METHOD_CONST,
    COL_JAVA_CONST_POOL,
    COL_JAVA_CONST_SIZE,
    COL_JAVA_CONST_FLAGS,
    COL_JAVA_CONST_CODE_SIZE,
    COL_JAVA_CONST_NAME,
    COL_JAVA_CONST_SIGNATURE,
    COL_JAVA_POOL_HOLDER,
    COL_JAVA_POOL_LENGTH,
    COL_JAVA_CLASS_NAME,
    COL_JAVA_CLASS_POOL,
    COL_JAVA_SYMBOL_HASH,
    COL_JAVA_SYMBOL_LENGTH,
    COL_JAVA_SYMBOL_BODY,
    COL_JAVA_NEEDED, /* those before are in every version; of those behind, each version has some */
    COL_JAVA_BLOB_CODE_BEGIN = COL_JAVA_NEEDED,
    COL_JAVA_BLOB_CODE_OFFSET,
    COL_JAVA_BLOB_MUTABLE_DATA,
    COL_JAVA_BLOB_MUTABLE_BYTES,
    COL_JAVA_BLOB_RELOCATION_SIZE,
    COL_JAVA_COMPILED_VERIFIED_ENTRY,
    COL_JAVA_COMPILED_VERIFIED_OFFSET,
    COL_JAVA_COMPILED_SCOPES_DATA_BEGIN,
    COL_JAVA_COMPILED_SCOPES_DATA,
    COL_JAVA_COMPILED_DEPENDENCIES,
    COL_JAVA_COMPILED_METADATA,
    COL_JAVA_COMPILED_DEOPT_HANDLER,
    COL_JAVA_COMPILED_DEOPT_OFFSET,
    COL_JAVA_COMPILED_DEOPT_HANDLER_2, /* of calls through method handles, to 25 */
    COL_JAVA_COMPILED_DEOPT_OFFSET_2,
    COL_JAVA_COMPILED_IMMUTABLE_DATA,
    COL_JAVA_COMPILED_IMMUTABLE_BYTES,
    COL_JAVA_POOL_SOURCE,
    COL_JAVA_CLASS_SOURCE,
    COL_JAVA_CONTINUATION_RETURN,
    COL_JAVA_BARRIER,
    COL_JAVA_RELEASE,
    COL_JAVA_SLOTS,
};

/* Sizes of classes, and constants. */
enum col_java_number {
    COL_JAVA_HEADER_BYTES, /* of a block of the code heap */
    COL_JAVA_CONST_BYTES,
    COL_JAVA_POOL_BYTES,
    COL_JAVA_PC_BYTES,
    COL_JAVA_NUMBERS_NEEDED,
    COL_JAVA_HAS_LINES = COL_JAVA_NUMBERS_NEEDED, /* the flag of a method with line numbers */
    COL_JAVA_HAS_LINES_LATER,                     /* the same from 21 on */
    COL_JAVA_NUMBERS,
};

/* A field: where, and of how many bytes (0: the version has none). */
struct col_java_field {
    uintptr_t at;
    uint8_t bytes;
    bool is_signed;
};

struct col_java_layout {
    struct col_remote_memory *memory; /* where all that is; NULL: in our own process */
    struct col_java_field fields[COL_JAVA_SLOTS];
    uint32_t numbers[COL_JAVA_NUMBERS];
};

/* Reads it from a loaded libjvm.so, by its dynamic section; `memory` is that of another process, or NULL. False: it tells none, or lacks something that is needed. From anywhere,
   signal handlers included. */
bool col_java_layout_read(struct col_java_layout *layout, struct col_remote_memory *memory, uintptr_t bias,
                          uintptr_t dynamic);

static inline bool col_java_has(const struct col_java_layout *layout, enum col_java_slot slot)
{
    return layout->fields[slot].bytes != 0;
}

/* What lies at an address that can be read. */
static inline uintptr_t col_java_word(const struct col_java_layout *layout, uintptr_t at)
{
    return col_safe_read_known(layout->memory, at);
}

/* The word that a number of some bytes lies in, from its first byte on. Of another process whole words are read. */
static inline uintptr_t col_java_word_from(const struct col_java_layout *layout, uintptr_t at)
{
    uintptr_t inside = at % sizeof at;
    return col_remote_memory_word(layout->memory, at - inside) >> 8 * inside;
}

COL_READS_FOREIGN static inline uint8_t col_java_byte(const struct col_java_layout *layout, uintptr_t at)
{
    return layout->memory == NULL ? *(const volatile uint8_t *)at : (uint8_t)col_java_word_from(layout, at);
}

/* A number in the object at an address that can be read; of a static one the address is 0. */
COL_READS_FOREIGN static inline int64_t col_java_get(const struct col_java_layout *layout, enum col_java_slot slot,
                                                     uintptr_t object)
{
    const struct col_java_field *field = &layout->fields[slot];
    uintptr_t at = object + field->at, word;
    bool is_own = layout->memory == NULL;
    switch (field->bytes) {
    case 1:
        return col_java_byte(layout, at);
    case 2:
        word = is_own ? *(const volatile uint16_t *)at : col_java_word_from(layout, at);
        return field->is_signed ? (int16_t)word : (uint16_t)word;
    case 4:
        word = is_own ? *(const volatile uint32_t *)at : col_java_word_from(layout, at);
        return field->is_signed ? (int64_t)(int32_t)word : (int64_t)(uint32_t)word;
    }
    return (int64_t)col_java_word(layout, at);
}

static inline uintptr_t col_java_get_pointer(const struct col_java_layout *layout, enum col_java_slot slot,
                                             uintptr_t object)
{
    return col_java_word(layout, object + layout->fields[slot].at);
}

#endif
