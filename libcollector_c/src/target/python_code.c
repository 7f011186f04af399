/* python_code.c -- Python's code objects, each told to the log once, as code at addresses of its own */
#include "target/python_code.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/one_of.h"
#include "base/safe_read.h"
#include "base/sparse.h"
#include "experiment/event.h"
#include "experiment/format.h"
#include "target/python_locations.h"

#define SETS 4096u /* a power of two */
#define WAYS 8u
#define ALIGNMENT 16u
#define TEXT_LIMIT 4096u /* characters of a name or a path that are kept */
#define LINE_TABLE_LIMIT (256u << 10)
#define LARGEST_CODE (64u << 20)
#define FINGERPRINT_BYTES 16u
#define BUFFERS 8
#define TYPE_AT 8u        /* of any object */
#define SIZE_AT 16u       /* of one of variable size, and of a string */
#define BASIC_SIZE_AT 32u /* of a type: where the variable part of its objects begins */
#define BYTES_AT 32u      /* of a bytes object */
#define TEXT_STATE_AT 32u

/* What tells a code object from one that was at its address before. */
struct identity {
    uintptr_t object, name, file;
    uint32_t first_line, version;
    uint64_t fingerprint; /* where there is no version */
    uint64_t owner;
};

/* Written by one at a time: `turn` is odd meanwhile. Readers see the same even number before and after. */
struct entry {
    uint32_t turn, generation;
    struct identity identity;
    struct col_python_code code;
};

static struct {
    uint32_t generation;                      /* of the log; entries of others do not count */
    uint64_t next;                            /* atomic: addresses given away, from COL_PYTHON_FIRST_ADDRESS on */
    bool is_taken[BUFFERS];                   /* atomic */
    uint64_t stand_ins[COL_PYTHON_STAND_INS]; /* atomic */
} self;

static struct entry entries[SETS][WAYS] COL_SPARSE;

/* What is told of an object is put together here, by as many threads at a time as there are. */
static struct buffers {
    char name[4 * TEXT_LIMIT + 1], file[4 * TEXT_LIMIT + 1];
    uint8_t locations[LINE_TABLE_LIMIT + COL_PYTHON_LOCATIONS_MORE];
} buffers[BUFFERS] COL_SPARSE;

/* ---- reading objects ---- */

static uintptr_t word_at(const struct col_python_runtime *python, uintptr_t address)
{
    return col_safe_read_known(python->memory, address);
}

static uint32_t number_at(const struct col_python_runtime *python, uintptr_t address)
{
    return (uint32_t)word_at(python, address);
}

/* NULL when not all of it can be read. */
static const uint8_t *view(const struct col_python_runtime *python, uintptr_t address, size_t bytes)
{
    struct col_proved_pages proved = {.memory = python->memory};
    return col_safe_read_view(&proved, address, bytes);
}

/* True when all of it can be read. A code object keeps its parts alive, but what is said to be one may be none. */
static bool is_readable(const struct col_python_runtime *python, uintptr_t address, size_t bytes)
{
    return address != 0 && address % sizeof address == 0 && view(python, address, bytes) != NULL;
}

COL_READS_FOREIGN static uint64_t mix(const struct col_python_runtime *python, uint64_t hash, uintptr_t at,
                                      size_t bytes)
{
    const volatile uint8_t *from = python->memory == NULL ? (const uint8_t *)at : view(python, at, bytes);
    for (size_t i = 0; from != NULL && i < bytes; i++)
        hash = (hash ^ from[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Up to 3.11 a new object may have all pointers of an old one: then its name and line table tell them apart. */
COL_READS_FOREIGN static uint64_t fingerprint_of(const struct col_python_runtime *python, uintptr_t at)
{
    const struct col_python_layout *layout = &python->layout;
    uintptr_t name = col_foreign_word(at + layout->code.name), table = col_foreign_word(at + layout->code.line_table);
    size_t table_bytes = word_at(python, table + SIZE_AT);
    size_t part = table_bytes < FINGERPRINT_BYTES ? table_bytes : FINGERPRINT_BYTES;
    uint64_t hash =
        mix(python, table_bytes ^ word_at(python, name + SIZE_AT) << 32, name + layout->text.ascii, FINGERPRINT_BYTES);
    hash = mix(python, hash, table + BYTES_AT, part);
    return mix(python, hash, table + BYTES_AT + table_bytes - part, part);
}

COL_READS_FOREIGN static struct identity identity_of(const struct col_python_runtime *python, uintptr_t object,
                                                     uintptr_t at)
{
    const struct col_python_layout *layout = &python->layout;
    return (struct identity){
        .object = object,
        .name = col_foreign_word(at + layout->code.name),
        .file = col_foreign_word(at + layout->code.file),
        .first_line = (uint32_t)col_foreign_word(at + layout->code.first_line),
        .version = layout->code.version != 0 ? (uint32_t)col_foreign_word(at + layout->code.version) : 0,
        .fingerprint = layout->code.version != 0 ? 0 : fingerprint_of(python, at),
        .owner = python->owner,
    };
}

static bool is_same(const struct identity *a, const struct identity *b)
{
    return a->object == b->object && a->version == b->version && a->first_line == b->first_line && a->name == b->name &&
           a->file == b->file && a->fingerprint == b->fingerprint && a->owner == b->owner;
}

/* ---- strings ---- */

static char *put_utf8(char *at, uint32_t character)
{
    static const uint8_t first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    unsigned bytes = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    for (unsigned i = bytes - 1; i > 0; i--, character >>= 6)
        at[i] = (char)(0x80 | (character & 0x3F));
    at[0] = (char)(bytes == 1 ? character : first[bytes] | character);
    return at + bytes;
}

/* A compact string as UTF-8; itself if it is ASCII. NULL: it is no such string. */
COL_READS_FOREIGN static const char *read_text(const struct col_python_runtime *python, uintptr_t text, char *to)
{
    const struct col_python_layout *layout = &python->layout;
    if (!is_readable(python, text, layout->text.other))
        return NULL;
    uint64_t length = word_at(python, text + SIZE_AT);
    uint32_t state = number_at(python, text + TEXT_STATE_AT), kind = state >> 2 & 7;
    bool is_compact = state >> 5 & 1, is_ascii = state >> 6 & 1;
    uintptr_t at = text + (is_ascii ? layout->text.ascii : layout->text.other);
    if (!is_compact || (kind != 1 && kind != 2 && kind != 4) || length > UINT32_MAX)
        return NULL;
    uint64_t count = length < TEXT_LIMIT ? length : TEXT_LIMIT;
    const uint8_t *data = view(python, at, (count + 1) * kind);
    if (data == NULL)
        return NULL;
    if (is_ascii && count == length && *(const char *)(data + length) == '\0')
        return (const char *)data;
    char *end = to;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t character = kind == 1   ? ((const uint8_t *)data)[i]
                             : kind == 2 ? ((const uint16_t *)data)[i]
                                         : ((const uint32_t *)data)[i];
        end = put_utf8(end, character < 0x110000 && character != 0 ? character : '?');
    }
    *end = '\0';
    return to;
}

/* ---- telling ---- */

static uint64_t take_addresses(uint64_t bytes)
{
    uint64_t room = (2 * bytes + ALIGNMENT) & ~(uint64_t)(ALIGNMENT - 1);
    return COL_PYTHON_FIRST_ADDRESS + __atomic_fetch_add(&self.next, room, __ATOMIC_RELAXED);
}

static bool write_code(const struct col_remote_memory *memory, struct col_event_mappingchange *change, uint64_t bytes)
{
    change->action = COL_MAP_INSERT;
    change->map_kind = COL_MAP_PYTHON_CODE;
    change->start = change->bias = take_addresses(bytes);
    change->end = change->start + 2 * bytes;
    change->path = "";
    uint32_t owner = memory != NULL ? (uint32_t)memory->pid : 0;
    return col_event_mappingchange((struct col_event_head){col_clock_now(), owner}, change) == 0;
}

/* Where the instructions are and how many bytes. False: the object is no code object. */
COL_READS_FOREIGN static bool measure(const struct col_python_runtime *python, uintptr_t object,
                                      struct col_python_code *code)
{
    const struct col_python_layout *layout = &python->layout;
    if (!is_readable(python, object, layout->code.line_table + sizeof(uintptr_t)) ||
        word_at(python, object + TYPE_AT) != python->code_type)
        return false;
    uint64_t bytes = word_at(python, object + SIZE_AT) * 2;
    code->instructions = object + word_at(python, python->code_type + BASIC_SIZE_AT);
    if (layout->code.bytecode != 0) {
        uintptr_t bytecode = word_at(python, object + layout->code.bytecode);
        code->instructions = 0;
        if (!is_readable(python, bytecode, BYTES_AT))
            return false;
        bytes = word_at(python, bytecode + SIZE_AT);
    }
    code->bytes = (uint32_t)bytes;
    return bytes >= 2 && bytes <= LARGEST_CODE;
}

COL_READS_FOREIGN static bool write_object(const struct col_python_runtime *python, uintptr_t object,
                                           struct buffers *own, struct col_python_code *code)
{
    const struct col_python_layout *layout = &python->layout;
    struct col_event_mappingchange change = {
        .name = read_text(python, word_at(python, object + layout->code.name), own->name),
        .source = read_text(python, word_at(python, object + layout->code.file), own->file),
        .first_line = number_at(python, object + layout->code.first_line),
        .line_table = layout->line_table,
    };
    uintptr_t table = word_at(python, object + layout->code.line_table);
    if (is_readable(python, table, BYTES_AT)) {
        uint64_t bytes = word_at(python, table + SIZE_AT);
        change.lines_bytes = bytes < LINE_TABLE_LIMIT ? bytes : LINE_TABLE_LIMIT;
        change.lines = view(python, table + BYTES_AT, change.lines_bytes);
        change.lines_bytes = change.lines != NULL ? change.lines_bytes : 0;
        if (layout->line_table == COL_LINES_LOCATIONS && change.lines != NULL) {
            change.lines_bytes = col_python_locations_shorten(change.lines, change.lines_bytes, own->locations);
            change.lines = own->locations;
        }
    }
    bool is_written = change.name != NULL && write_code(python->memory, &change, code->bytes);
    code->start = change.start;
    return is_written;
}

/* A thread that finds no buffers tells of its object when it is met again. */
static bool tell(const struct col_python_runtime *python, uintptr_t object, struct col_python_code *code)
{
    int which = measure(python, object, code) ? col_one_of_take(self.is_taken, BUFFERS) : -1;
    if (which < 0)
        return false;
    bool is_told = write_object(python, object, &buffers[which], code);
    col_one_of_return(self.is_taken, which);
    return is_told;
}

/* ---- the table ---- */

static bool read_entry(struct entry *entry, const struct identity *identity, struct col_python_code *code)
{
    uint32_t turn = __atomic_load_n(&entry->turn, __ATOMIC_ACQUIRE);
    if (turn % 2 != 0 || entry->generation != self.generation || !is_same(&entry->identity, identity))
        return false;
    *code = entry->code;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&entry->turn, __ATOMIC_RELAXED) == turn;
}

static void write_entry(struct entry *entry, const struct identity *identity, const struct col_python_code *code)
{
    uint32_t turn = __atomic_load_n(&entry->turn, __ATOMIC_RELAXED);
    if (turn % 2 != 0 ||
        !__atomic_compare_exchange_n(&entry->turn, &turn, turn + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return; /* somebody else writes it: this one is told again when it is met again */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    entry->generation = self.generation;
    entry->identity = *identity;
    entry->code = *code;
    __atomic_store_n(&entry->turn, turn + 2, __ATOMIC_RELEASE);
}

/* An entry of the set that is free, else one that loses its place. */
static struct entry *choose(struct entry *set, uint64_t hash)
{
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].generation != self.generation || set[way].turn == 0)
            return &set[way];
    return &set[hash >> 8 & (WAYS - 1)];
}

static bool is_known(const struct entry *set, uintptr_t object)
{
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].identity.object == object && set[way].generation == self.generation)
            return true;
    return false;
}

/* What was a code object at an earlier tick can be read; anything else is asked for first. */
COL_READS_FOREIGN bool col_python_code_find(const struct col_python_runtime *python, uintptr_t object,
                                            struct col_python_code *code)
{
    uint64_t hash = (uint64_t)object * UINT64_C(0x9e3779b97f4a7c15);
    struct entry *set = entries[hash >> 52];
    uintptr_t at = object; /* where it can be read */
    if (python->memory != NULL || !is_known(set, object))
        at = object % sizeof object == 0
                 ? (uintptr_t)view(python, object, python->layout.code.line_table + sizeof(uintptr_t))
                 : 0;
    if (at == 0 || col_foreign_word(at + TYPE_AT) != python->code_type)
        return false;
    struct identity identity = identity_of(python, object, at);
    for (unsigned way = 0; way < WAYS; way++)
        if (set[way].identity.object == object && read_entry(&set[way], &identity, code))
            return true;
    if (!tell(python, object, code))
        return false;
    write_entry(choose(set, hash + code->start), &identity, code);
    return true;
}

uint64_t col_python_code_stand_in(enum col_python_stand_in which)
{
    static const char *const names[COL_PYTHON_STAND_INS] = {"(interpreter)", "(Python stack unreadable)"};
    uint64_t address = __atomic_load_n(&self.stand_ins[which], __ATOMIC_RELAXED);
    if (address == 0) {
        struct col_event_mappingchange change = {.name = names[which]};
        if (!write_code(NULL, &change, 2))
            return 0;
        address = col_python_code_address(change.start, 0, true);
        __atomic_store_n(&self.stand_ins[which], address, __ATOMIC_RELAXED);
    }
    return address;
}

void col_python_code_forget(void)
{
    self.generation++;
    memset(self.is_taken, 0, sizeof self.is_taken);
    memset(self.stand_ins, 0, sizeof self.stand_ins);
}

void col_python_code_watch(void)
{
    self.next = COL_PYTHON_WATCHED_ADDRESS - COL_PYTHON_FIRST_ADDRESS;
}
