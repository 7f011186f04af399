/* java_layout.c -- where HotSpot keeps what a stack is made of, as it tells debuggers itself (vmStructs) */
#include "target/java_layout.h"

#include <stddef.h>
#include <string.h>

#include "base/safe_read.h"
#include "target/exported_symbols.h"

enum { MOST_ENTRIES = 20000, LONGEST_TEXT = 64 };

struct wanted {
    const char *type, *name;
    unsigned to;
};

/* src/hotspot/share/runtime/vmStructs.cpp. What moved from one class to another stands here twice. */
static const struct wanted wanted_fields[] = {
    {"CodeCache", "_heaps", COL_JAVA_HEAPS},
    {"CodeCache", "_low_bound", COL_JAVA_LOW_BOUND},
    {"CodeCache", "_high_bound", COL_JAVA_HIGH_BOUND},
    {"GrowableArrayBase", "_len", COL_JAVA_ARRAY_LENGTH},
    {"GenericGrowableArray", "_len", COL_JAVA_ARRAY_LENGTH},
    {"GrowableArray<int>", "_data", COL_JAVA_ARRAY_DATA},
    {"CodeHeap", "_memory", COL_JAVA_HEAP_MEMORY},
    {"CodeHeap", "_segmap", COL_JAVA_HEAP_SEGMENTS},
    {"CodeHeap", "_log2_segment_size", COL_JAVA_HEAP_SEGMENT_BITS},
    {"VirtualSpace", "_low", COL_JAVA_SPACE_LOW},
    {"VirtualSpace", "_high", COL_JAVA_SPACE_HIGH},
    {"CodeBlob", "_name", COL_JAVA_BLOB_NAME},
    {"CodeBlob", "_size", COL_JAVA_BLOB_SIZE},
    {"CodeBlob", "_frame_complete_offset", COL_JAVA_BLOB_FRAME_COMPLETE},
    {"CodeBlob", "_frame_size", COL_JAVA_BLOB_FRAME_SIZE},
    {"CodeBlob", "_code_begin", COL_JAVA_BLOB_CODE_BEGIN},
    {"CodeBlob", "_code_offset", COL_JAVA_BLOB_CODE_OFFSET},
    {"CodeBlob", "_mutable_data", COL_JAVA_BLOB_MUTABLE_DATA},
    {"CodeBlob", "_mutable_data_size", COL_JAVA_BLOB_MUTABLE_BYTES},
    {"CodeBlob", "_relocation_size", COL_JAVA_BLOB_RELOCATION_SIZE},
    {"AbstractInterpreter", "_code", COL_JAVA_QUEUE},
    {"StubQueue", "_stub_buffer", COL_JAVA_QUEUE_BUFFER},
    {"StubQueue", "_buffer_limit", COL_JAVA_QUEUE_LIMIT},
    {"StubRoutines", "_call_stub_return_address", COL_JAVA_CALL_STUB_RETURN},
    {"CompiledMethod", "_method", COL_JAVA_COMPILED_METHOD},
    {"nmethod", "_method", COL_JAVA_COMPILED_METHOD},
    {"nmethod", "_orig_pc_offset", COL_JAVA_COMPILED_ORIGINAL_PC},
    {"nmethod", "_scopes_pcs_offset", COL_JAVA_COMPILED_SCOPES_PCS},
    {"nmethod", "_verified_entry_point", COL_JAVA_COMPILED_VERIFIED_ENTRY},
    {"nmethod", "_verified_entry_offset", COL_JAVA_COMPILED_VERIFIED_OFFSET},
    {"CompiledMethod", "_scopes_data_begin", COL_JAVA_COMPILED_SCOPES_DATA_BEGIN},
    {"nmethod", "_scopes_data_offset", COL_JAVA_COMPILED_SCOPES_DATA},
    {"nmethod", "_dependencies_offset", COL_JAVA_COMPILED_DEPENDENCIES},
    {"nmethod", "_metadata_offset", COL_JAVA_COMPILED_METADATA},
    {"CompiledMethod", "_deopt_handler_begin", COL_JAVA_COMPILED_DEOPT_HANDLER},
    {"nmethod", "_deopt_handler_begin", COL_JAVA_COMPILED_DEOPT_HANDLER},
    {"nmethod", "_deopt_handler_offset", COL_JAVA_COMPILED_DEOPT_OFFSET},
    {"nmethod", "_deopt_handler_entry_offset", COL_JAVA_COMPILED_DEOPT_OFFSET},
    {"CompiledMethod", "_deopt_mh_handler_begin", COL_JAVA_COMPILED_DEOPT_HANDLER_2},
    {"nmethod", "_deopt_mh_handler_offset", COL_JAVA_COMPILED_DEOPT_OFFSET_2},
    {"nmethod", "_immutable_data", COL_JAVA_COMPILED_IMMUTABLE_DATA},
    {"nmethod", "_immutable_data_size", COL_JAVA_COMPILED_IMMUTABLE_BYTES},
    {"PcDesc", "_pc_offset", COL_JAVA_PC_OFFSET},
    {"PcDesc", "_scope_decode_offset", COL_JAVA_PC_SCOPE},
    {"Method", "_constMethod", COL_JAVA_METHOD_CONST},
    {"ConstMethod", "_constants", COL_JAVA_CONST_POOL},
    {"ConstMethod", "_constMethod_size", COL_JAVA_CONST_SIZE},
    {"ConstMethod", "_flags", COL_JAVA_CONST_FLAGS},
    {"ConstMethod", "_flags._flags", COL_JAVA_CONST_FLAGS},
    {"ConstMethod", "_code_size", COL_JAVA_CONST_CODE_SIZE},
    {"ConstMethod", "_name_index", COL_JAVA_CONST_NAME},
    {"ConstMethod", "_signature_index", COL_JAVA_CONST_SIGNATURE},
    {"ConstantPool", "_pool_holder", COL_JAVA_POOL_HOLDER},
    {"ConstantPool", "_length", COL_JAVA_POOL_LENGTH},
    {"ConstantPool", "_source_file_name_index", COL_JAVA_POOL_SOURCE},
    {"InstanceKlass", "_source_file_name_index", COL_JAVA_CLASS_SOURCE},
    {"Klass", "_name", COL_JAVA_CLASS_NAME},
    {"InstanceKlass", "_constants", COL_JAVA_CLASS_POOL},
    {"Symbol", "_hash_and_refcount", COL_JAVA_SYMBOL_HASH},
    {"Symbol", "_identity_hash", COL_JAVA_SYMBOL_HASH},
    {"Symbol", "_length", COL_JAVA_SYMBOL_LENGTH},
    {"Symbol", "_body", COL_JAVA_SYMBOL_BODY},
    {"ContinuationEntry", "_return_pc", COL_JAVA_CONTINUATION_RETURN},
    {"StubRoutines", "_cont_returnBarrier", COL_JAVA_BARRIER},
    {"Abstract_VM_Version", "_s_vm_release", COL_JAVA_RELEASE},
};

static const struct wanted wanted_types[] = {
    {"HeapBlock", "", COL_JAVA_HEADER_BYTES},
    {"ConstMethod", "", COL_JAVA_CONST_BYTES},
    {"ConstantPool", "", COL_JAVA_POOL_BYTES},
    {"PcDesc", "", COL_JAVA_PC_BYTES},
};

static const struct wanted wanted_constants[] = {
    {"ConstMethod::_has_linenumber_table", "", COL_JAVA_HAS_LINES},
    {"ConstMethodFlags::_misc_has_linenumber_table", "", COL_JAVA_HAS_LINES_LATER},
};

/* By the name that the table has for a type; what is none of these is a pointer, or is not read. */
static const struct {
    const char *name;
    uint8_t bytes;
    bool is_signed;
} number_types[] = {
    {"int", 4, true}, {"int16_t", 2, true}, {"unsigned int", 4, false},   {"u1", 1, false},   {"u2", 2, false},
    {"u4", 4, false}, {"jint", 4, true},    {"unsigned short", 2, false}, {"short", 2, true},
};

/* One of the tables: where it begins, and where its entries have what. */
struct table {
    struct col_proved_pages proved;
    uintptr_t entries, stride, bias, dynamic;
};

static bool read_text(struct table *table, uintptr_t at, char text[LONGEST_TEXT])
{
    uintptr_t pointer;
    text[0] = '\0';
    if (!col_safe_read_prove(&table->proved, at, sizeof pointer))
        return false;
    pointer = col_safe_read_known(table->proved.memory, at);
    for (unsigned i = 0; pointer != 0 && i + 1 < LONGEST_TEXT; i++) {
        if (!col_safe_read_copy(&table->proved, pointer + i, &text[i], 1))
            return false;
        text[i + 1] = '\0';
        if (text[i] == '\0')
            break;
    }
    return text[0] != '\0';
}

static uintptr_t read_symbol(struct table *table, const char *name)
{
    uintptr_t at = col_exported_symbols_find(table->proved.memory, table->bias, table->dynamic, name), value = 0;
    return at != 0 && col_safe_read_copy(&table->proved, at, &value, sizeof value) ? value : 0;
}

static bool open_table(struct table *table, const char *name, const char *stride)
{
    table->entries = read_symbol(table, name);
    table->stride = read_symbol(table, stride);
    return table->entries != 0 && table->stride >= sizeof(uintptr_t) && table->stride < 256;
}

static const struct wanted *find(const struct wanted *wanted, size_t count, const char *type, const char *name)
{
    for (const struct wanted *end = wanted + count; wanted < end; wanted++)
        if (strcmp(wanted->type, type) == 0 && strcmp(wanted->name, name) == 0)
            return wanted;
    return NULL;
}

static struct col_java_field field_of(const char *type_name, uintptr_t at)
{
    struct col_java_field field = {at, sizeof(uintptr_t), false};
    for (size_t i = 0; i < sizeof number_types / sizeof *number_types; i++)
        if (strcmp(type_name, number_types[i].name) == 0)
            field = (struct col_java_field){at, number_types[i].bytes, number_types[i].is_signed};
    return field;
}

static bool read_fields(struct table *table, struct col_java_layout *layout)
{
    char type[LONGEST_TEXT], name[LONGEST_TEXT], type_name[LONGEST_TEXT];
    uintptr_t name_at = read_symbol(table, "gHotSpotVMStructEntryFieldNameOffset"),
              type_name_at = read_symbol(table, "gHotSpotVMStructEntryTypeStringOffset"),
              static_at = read_symbol(table, "gHotSpotVMStructEntryIsStaticOffset"),
              offset_at = read_symbol(table, "gHotSpotVMStructEntryOffsetOffset"),
              address_at = read_symbol(table, "gHotSpotVMStructEntryAddressOffset"),
              type_at = read_symbol(table, "gHotSpotVMStructEntryTypeNameOffset");
    if (!open_table(table, "gHotSpotVMStructs", "gHotSpotVMStructEntryArrayStride"))
        return false;
    uintptr_t entry = table->entries;
    for (unsigned i = 0; i < MOST_ENTRIES && read_text(table, entry + type_at, type); i++, entry += table->stride) {
        if (!read_text(table, entry + name_at, name) ||
            !col_safe_read_prove(&table->proved, entry, table->stride + sizeof(uintptr_t)))
            return false;
        const struct wanted *found = find(wanted_fields, sizeof wanted_fields / sizeof *wanted_fields, type, name);
        if (found == NULL)
            continue;
        bool is_static = (uint32_t)col_safe_read_known(table->proved.memory, entry + static_at) != 0;
        read_text(table, entry + type_name_at, type_name);
        layout->fields[found->to] = field_of(
            type_name, col_safe_read_known(table->proved.memory, entry + (is_static ? address_at : offset_at)));
    }
    return true;
}

static void read_numbers(struct table *table, const struct wanted *wanted, size_t count, uintptr_t name_at,
                         uintptr_t number_at, struct col_java_layout *layout)
{
    char name[LONGEST_TEXT];
    uintptr_t entry = table->entries;
    for (unsigned i = 0; i < MOST_ENTRIES && read_text(table, entry + name_at, name); i++, entry += table->stride) {
        const struct wanted *found = find(wanted, count, name, "");
        if (found != NULL && col_safe_read_prove(&table->proved, entry, table->stride))
            layout->numbers[found->to] = (uint32_t)col_safe_read_known(table->proved.memory, entry + number_at);
    }
}

bool col_java_layout_read(struct col_java_layout *layout, struct col_remote_memory *memory, uintptr_t bias,
                          uintptr_t dynamic)
{
    struct table table = {.proved = {.memory = memory}, .bias = bias, .dynamic = dynamic};
    memset(layout, 0, sizeof *layout);
    layout->memory = memory;
    if (!read_fields(&table, layout))
        return false;
    if (open_table(&table, "gHotSpotVMTypes", "gHotSpotVMTypeEntryArrayStride"))
        read_numbers(&table, wanted_types, sizeof wanted_types / sizeof *wanted_types,
                     read_symbol(&table, "gHotSpotVMTypeEntryTypeNameOffset"),
                     read_symbol(&table, "gHotSpotVMTypeEntrySizeOffset"), layout);
    if (open_table(&table, "gHotSpotVMIntConstants", "gHotSpotVMIntConstantEntryArrayStride"))
        read_numbers(&table, wanted_constants, sizeof wanted_constants / sizeof *wanted_constants,
                     read_symbol(&table, "gHotSpotVMIntConstantEntryNameOffset"),
                     read_symbol(&table, "gHotSpotVMIntConstantEntryValueOffset"), layout);
    for (unsigned i = 0; i < COL_JAVA_NEEDED; i++)
        if (layout->fields[i].bytes == 0)
            return false;
    for (unsigned i = 0; i < COL_JAVA_NUMBERS_NEEDED; i++)
        if (layout->numbers[i] == 0)
            return false;
    return (col_java_has(layout, COL_JAVA_BLOB_CODE_BEGIN) || col_java_has(layout, COL_JAVA_BLOB_CODE_OFFSET)) &&
           (col_java_has(layout, COL_JAVA_COMPILED_SCOPES_DATA_BEGIN) ||
            col_java_has(layout, COL_JAVA_COMPILED_SCOPES_DATA));
}
