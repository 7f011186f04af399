/* java_method.c -- Java's methods, each told to the log once, as code at addresses of its own
 *
 * A method leads to its constant part, which holds the bytecodes, that to its constants, and those to the class and to all names
 * (src/hotspot/share/oops/method.hpp, constMethod.hpp, constantPool.hpp, symbol.hpp).
 */
#include "target/java_method.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/one_of.h"
#include "base/safe_read.h"
#include "base/sparse.h"
#include "experiment/event.h"
#include "experiment/format.h"

#define SETS 4096u /* a power of two */
#define WAYS 8u
#define ADDRESSES 8u /* of an offset */
#define ALIGNMENT 16u
#define TEXT_LIMIT 4096u
#define LINE_LIMIT 4096u
#define BUFFERS 8
#define LONG_DELTA 0xFFu /* of the line table: what follows is two numbers */
#define LAST_BYTE 192u   /* of a number: below it */

/* What tells a method from one that was at its address before. */
struct identity {
    uint64_t owner; /* a number of its process */
    uintptr_t method, constant, pool, holder, class_name;
    uint32_t class_hash, name_index;
};

/* Written by one at a time: `turn` is odd meanwhile. Readers see the same even number before and after. */
struct entry {
    uint32_t turn, generation;
    struct identity identity;
    uint64_t start;
    uint32_t code_bytes;
};

/* One entry of a line table as the log has it. */
struct line {
    int32_t offset, number;
};

static struct {
    uint32_t generation;    /* of the log; entries of others do not count */
    uint64_t next;          /* atomic: addresses given away, from COL_JAVA_FIRST_ADDRESS on */
    bool is_taken[BUFFERS]; /* atomic */
} self;

/* What is told of a method is put together here, by as many threads at a time as there are. */
static struct buffers {
    char name[2 * TEXT_LIMIT + 2], alias[TEXT_LIMIT + 1], source[TEXT_LIMIT + 1];
    struct line lines[LINE_LIMIT];
} buffers[BUFFERS] COL_SPARSE;

static struct entry entries[SETS][WAYS] COL_SPARSE;

/* ---- reading ---- */

static bool is_readable(const struct col_java_layout *layout, uintptr_t address, size_t bytes)
{
    struct col_proved_pages proved = {.memory = layout->memory};
    return address != 0 && address % sizeof address == 0 && col_safe_read_prove(&proved, address, bytes);
}

/* A name in the constants. 0: there is none. */
static uintptr_t symbol_at(const struct col_java_layout *layout, uintptr_t pool, uint32_t index)
{
    uintptr_t at = pool + layout->numbers[COL_JAVA_POOL_BYTES] + index * sizeof at;
    bool is_inside = index > 0 && index < (uint64_t)col_java_get(layout, COL_JAVA_POOL_LENGTH, pool);
    return is_inside && is_readable(layout, at, sizeof at) ? col_java_word(layout, at) : 0;
}

/* A random number of the name's own, which in later versions is above a count of its users, and its length. */
static uint32_t hash_of(const struct col_java_layout *layout, uintptr_t symbol)
{
    unsigned count_bits = layout->fields[COL_JAVA_SYMBOL_HASH].bytes == 4 ? 16 : 0;
    return ((uint32_t)col_java_get(layout, COL_JAVA_SYMBOL_HASH, symbol) >> count_bits & 0xFFFF) |
           (uint32_t)col_java_get(layout, COL_JAVA_SYMBOL_LENGTH, symbol) << 16;
}

/* True where `known` is still there: only what was read before is read. */
static bool is_same(const struct col_java_layout *layout, const struct identity *known)
{
    return col_java_get_pointer(layout, COL_JAVA_METHOD_CONST, known->method) == known->constant &&
           col_java_get_pointer(layout, COL_JAVA_CONST_POOL, known->constant) == known->pool &&
           (uint32_t)col_java_get(layout, COL_JAVA_CONST_NAME, known->constant) == known->name_index &&
           col_java_get_pointer(layout, COL_JAVA_POOL_HOLDER, known->pool) == known->holder &&
           col_java_get_pointer(layout, COL_JAVA_CLASS_NAME, known->holder) == known->class_name &&
           hash_of(layout, known->class_name) == known->class_hash;
}

/* Of what may be a method; false: it is none. */
static bool identify(const struct col_java_runtime *java, uintptr_t method, struct identity *identity)
{
    const struct col_java_layout *layout = &java->layout;
    *identity = (struct identity){.owner = java->owner, .method = method};
    if (!is_readable(layout, method, layout->fields[COL_JAVA_METHOD_CONST].at + sizeof(uintptr_t)))
        return false;
    identity->constant = col_java_get_pointer(layout, COL_JAVA_METHOD_CONST, method);
    if (!is_readable(layout, identity->constant, layout->numbers[COL_JAVA_CONST_BYTES]))
        return false;
    identity->name_index = (uint32_t)col_java_get(layout, COL_JAVA_CONST_NAME, identity->constant);
    identity->pool = col_java_get_pointer(layout, COL_JAVA_CONST_POOL, identity->constant);
    if (!is_readable(layout, identity->pool, layout->numbers[COL_JAVA_POOL_BYTES]))
        return false;
    identity->holder = col_java_get_pointer(layout, COL_JAVA_POOL_HOLDER, identity->pool);
    if (!is_readable(layout, identity->holder, layout->fields[COL_JAVA_CLASS_POOL].at + sizeof(uintptr_t)) ||
        !is_readable(layout, identity->holder, layout->fields[COL_JAVA_CLASS_NAME].at + sizeof(uintptr_t)) ||
        col_java_get_pointer(layout, COL_JAVA_CLASS_POOL, identity->holder) != identity->pool)
        return false;
    identity->class_name = col_java_get_pointer(layout, COL_JAVA_CLASS_NAME, identity->holder);
    if (!is_readable(layout, identity->class_name, layout->fields[COL_JAVA_SYMBOL_BODY].at))
        return false;
    identity->class_hash = hash_of(layout, identity->class_name);
    return true;
}

/* ---- names and lines ---- */

/* Copies a name, in which packages are parted as programs write it. The end; NULL: it cannot be read. */
static char *copy_symbol(const struct col_java_layout *layout, uintptr_t symbol, char *to)
{
    struct col_proved_pages proved = {.memory = layout->memory};
    if (!is_readable(layout, symbol, layout->fields[COL_JAVA_SYMBOL_BODY].at))
        return NULL;
    uintptr_t body = symbol + layout->fields[COL_JAVA_SYMBOL_BODY].at;
    size_t length = (size_t)col_java_get(layout, COL_JAVA_SYMBOL_LENGTH, symbol);
    length = length < TEXT_LIMIT ? length : TEXT_LIMIT;
    if (length == 0 || !col_safe_read_prove(&proved, body, length))
        return NULL;
    for (size_t i = 0; i < length; i++) {
        char byte = (char)col_java_byte(layout, body + i);
        *to++ = byte == '/' ? '.' : byte != '\0' ? byte : '?';
    }
    *to = '\0';
    return to;
}

/* Bytes that can be read, one after the other. */
struct bytes {
    const struct col_java_layout *layout;
    uintptr_t at, end;
    uint32_t excess; /* from 21 on no byte of a number is 0: each counts one less */
};

static uint32_t next_byte(struct bytes *bytes)
{
    return bytes->at < bytes->end ? col_java_byte(bytes->layout, bytes->at++) : 0;
}

/* Its unsigned numbers (src/hotspot/share/utilities/unsigned5.hpp), of which signed ones have the sign in the lowest bit. */
static int32_t next_signed(struct bytes *bytes)
{
    uint32_t sum = 0;
    for (unsigned shift = 0; shift <= 24; shift += 6) {
        uint32_t byte = next_byte(bytes);
        sum += (byte - bytes->excess) << shift;
        if (byte < LAST_BYTE)
            break;
    }
    return (int32_t)(sum >> 1 ^ (0 - (sum & 1)));
}

/* The table behind the bytecodes (src/hotspot/share/code/compressedStream.hpp, CompressedLineNumberReadStream). */
static size_t read_lines(const struct col_java_layout *layout, uintptr_t constant, uint32_t code_bytes,
                         struct line *lines)
{
    uint32_t later = layout->numbers[COL_JAVA_HAS_LINES_LATER];
    uint32_t flag = later != 0 ? later : layout->numbers[COL_JAVA_HAS_LINES];
    struct col_proved_pages proved = {.memory = layout->memory};
    struct bytes bytes = {
        .layout = layout,
        .at = constant + layout->numbers[COL_JAVA_CONST_BYTES] + code_bytes,
        .end = constant + sizeof(uintptr_t) * (uintptr_t)(uint32_t)col_java_get(layout, COL_JAVA_CONST_SIZE, constant),
        .excess = later != 0};
    if (!((uint32_t)col_java_get(layout, COL_JAVA_CONST_FLAGS, constant) & flag) || bytes.end <= bytes.at ||
        bytes.end - bytes.at > (16u << 20) || !col_safe_read_prove(&proved, bytes.at, bytes.end - bytes.at))
        return 0;
    int32_t offset = 0, number = 0;
    size_t count = 0;
    for (uint32_t byte; count < LINE_LIMIT && (byte = next_byte(&bytes)) != 0; count++) {
        if (byte == LONG_DELTA) {
            offset += next_signed(&bytes);
            number += next_signed(&bytes);
        } else {
            offset += (int32_t)(byte >> 3);
            number += (int32_t)(byte & 7);
        }
        lines[count] = (struct line){offset * (int32_t)ADDRESSES, number};
    }
    return count;
}

/* ---- telling ---- */

static uint64_t take_addresses(uint64_t bytes)
{
    uint64_t room = (bytes + ALIGNMENT) & ~(uint64_t)(ALIGNMENT - 1);
    return COL_JAVA_FIRST_ADDRESS + __atomic_fetch_add(&self.next, room, __ATOMIC_RELAXED);
}

static uintptr_t source_of(const struct col_java_layout *layout, const struct identity *identity)
{
    uint32_t index = 0;
    if (col_java_has(layout, COL_JAVA_POOL_SOURCE))
        index = (uint32_t)col_java_get(layout, COL_JAVA_POOL_SOURCE, identity->pool);
    else if (col_java_has(layout, COL_JAVA_CLASS_SOURCE))
        index = (uint32_t)col_java_get(layout, COL_JAVA_CLASS_SOURCE, identity->holder);
    return symbol_at(layout, identity->pool, index);
}

static bool write_method(const struct col_java_layout *layout, const struct identity *identity, struct buffers *own,
                         struct entry *entry)
{
    char *end = copy_symbol(layout, identity->class_name, own->name);
    if (end == NULL)
        return false;
    *end++ = '.';
    if (copy_symbol(layout, symbol_at(layout, identity->pool, identity->name_index), end) == NULL)
        return false;
    uint32_t signature = (uint32_t)col_java_get(layout, COL_JAVA_CONST_SIGNATURE, identity->constant);
    bool has_alias = copy_symbol(layout, symbol_at(layout, identity->pool, signature), own->alias) != NULL;
    bool has_source = copy_symbol(layout, source_of(layout, identity), own->source) != NULL;
    uint32_t code_bytes = (uint32_t)col_java_get(layout, COL_JAVA_CONST_CODE_SIZE, identity->constant);
    entry->code_bytes = code_bytes > 0 ? code_bytes : 1; /* a native method has none */
    uint64_t bytes = (uint64_t)entry->code_bytes * ADDRESSES;
    struct col_event_mappingchange change = {
        .action = COL_MAP_INSERT,
        .map_kind = COL_MAP_JAVA_METHOD,
        .path = "",
        .name = own->name,
        .alias = has_alias ? own->alias : NULL,
        .source = has_source ? own->source : NULL,
        .lines = own->lines,
        .lines_bytes = read_lines(layout, identity->constant, code_bytes, own->lines) * sizeof(struct line)};
    change.start = change.bias = entry->start = take_addresses(bytes);
    change.end = change.start + bytes;
    uint32_t process = layout->memory != NULL ? (uint32_t)layout->memory->pid : 0;
    return col_event_mappingchange((struct col_event_head){col_clock_now(), process}, &change) == 0;
}

/* A thread that finds no buffers tells of its method when it is met again. */
static bool tell(const struct col_java_layout *layout, const struct identity *identity, struct entry *entry)
{
    int which = col_one_of_take(self.is_taken, BUFFERS);
    if (which < 0)
        return false;
    bool is_told = write_method(layout, identity, &buffers[which], entry);
    col_one_of_return(self.is_taken, which);
    return is_told;
}

/* ---- the table ---- */

/* A copy of the method's entry, if there is one of this log. */
static bool read_entry(const struct entry *set, uint64_t owner, uintptr_t method, struct entry *copy)
{
    for (unsigned way = 0; way < WAYS; way++) {
        uint32_t turn = __atomic_load_n(&set[way].turn, __ATOMIC_ACQUIRE);
        if (turn % 2 != 0 || turn == 0 || set[way].generation != self.generation ||
            set[way].identity.method != method || set[way].identity.owner != owner)
            continue;
        *copy = set[way];
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&set[way].turn, __ATOMIC_RELAXED) == turn)
            return true;
    }
    return false;
}

/* The method's own entry, one that is free, else one that loses its place. */
static struct entry *choose(struct entry *set, uint64_t owner, uintptr_t method, uint64_t hash)
{
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].generation == self.generation && set[way].identity.method == method &&
            set[way].identity.owner == owner)
            return &set[way];
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].generation != self.generation || set[way].turn == 0)
            return &set[way];
    return &set[hash >> 8 & (WAYS - 1)];
}

static void write_entry(struct entry *entry, const struct entry *told)
{
    uint32_t turn = __atomic_load_n(&entry->turn, __ATOMIC_RELAXED);
    if (turn % 2 != 0 ||
        !__atomic_compare_exchange_n(&entry->turn, &turn, turn + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return; /* somebody else writes it: this one is told again when it is met again */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    entry->generation = self.generation;
    entry->identity = told->identity;
    entry->start = told->start;
    entry->code_bytes = told->code_bytes;
    __atomic_store_n(&entry->turn, turn + 2, __ATOMIC_RELEASE);
}

bool col_java_method_find(const struct col_java_runtime *java, uintptr_t address, bool is_certain,
                          struct col_java_method *method)
{
    uint64_t hash = (uint64_t)address * UINT64_C(0x9e3779b97f4a7c15);
    struct entry *set = entries[hash >> 52], entry;
    struct identity identity = {0};
    if (!is_certain && !identify(java, address, &identity))
        return false;
    if (!read_entry(set, java->owner, address, &entry) || !is_same(&java->layout, &entry.identity)) {
        if ((is_certain && !identify(java, address, &identity)) || !tell(&java->layout, &identity, &entry))
            return false;
        entry.identity = identity;
        write_entry(choose(set, java->owner, address, hash + entry.start), &entry);
    }
    *method = (struct col_java_method){
        entry.start, entry.identity.constant + java->layout.numbers[COL_JAVA_CONST_BYTES], entry.code_bytes};
    return true;
}

void col_java_method_forget(void)
{
    self.generation++;
    memset(self.is_taken, 0, sizeof self.is_taken);
}

void col_java_method_watch(void)
{
    self.next = COL_JAVA_WATCHED_ADDRESS - COL_JAVA_FIRST_ADDRESS;
}
