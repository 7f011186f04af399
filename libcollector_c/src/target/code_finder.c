/* code_finder.c -- which code an address belongs to, and which unwind table covers it */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "target/code_finder.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "base/arch.h"
#include "base/sparse.h"
#include "target/eh_frame.h"
#include "target/executable_mappings.h"
#include "target/range_table.h"
#include "target/remote_modules.h"

/* What glibc 2.35 and later answer from a signal handler; declared here so that older headers do. */
struct found_object {
    unsigned long long flags;
    void *map_start, *map_end;
    void *link_map;
    void *eh_frame_header;
    unsigned long long reserved[7];
};

/* Tests build this file with a name that nothing has, to see it live without the function. */
#ifndef COL_FIND_OBJECT_NAME
#define COL_FIND_OBJECT_NAME "_dl_find_object"
#endif
extern int find_object(void *pc, struct found_object *found) __asm__(COL_FIND_OBJECT_NAME) __attribute__((weak));

enum {
    REGISTERED_TABLES = 1024,
};

/* An .eh_frame that the program registered. Free while frames is NULL. */
struct registered {
    const uint8_t *frames;
    uintptr_t low, high, tables_high;
};

static struct {
    uintptr_t program_low, program_high; /* from the program's first segment to its last; set before the first walk */
    uint32_t registered_end;             /* no entry in use at or behind this place */
    bool is_registering;
    void (*met)(uintptr_t low, uintptr_t high,
                const void *link_map); /* who wants to know of objects; set before the first walk */
} self;

static struct col_range_table modules COL_SPARSE; /* the snapshot; payload = its .eh_frame_hdr */
static struct registered registered[REGISTERED_TABLES] COL_SPARSE;

void col_code_finder_observe(void (*met)(uintptr_t low, uintptr_t high, const void *link_map))
{
    self.met = met;
}

static bool find_registered(uintptr_t pc, struct col_code_module *module)
{
    uint32_t end = __atomic_load_n(&self.registered_end, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < end; i++) {
        struct registered *entry = &registered[i];
        const uint8_t *frames = __atomic_load_n(&entry->frames, __ATOMIC_ACQUIRE);
        uintptr_t low = __atomic_load_n(&entry->low, __ATOMIC_RELAXED);
        uintptr_t high = __atomic_load_n(&entry->high, __ATOMIC_RELAXED);
        uintptr_t tables_high = __atomic_load_n(&entry->tables_high, __ATOMIC_RELAXED);
        if (!frames || pc < low || pc >= high || frames != __atomic_load_n(&entry->frames, __ATOMIC_ACQUIRE))
            continue;
        *module = (struct col_code_module){
            .low = low, .high = high, .frames = frames, .tables_low = (uintptr_t)frames, .tables_high = tables_high};
        return true;
    }
    return false;
}

static bool is_in_program(uintptr_t low, uintptr_t high)
{
    return low >= self.program_low && high <= self.program_high;
}

/* A loaded object. Its tables lie inside it. Of a program whose segments have gaps between them the C library gives one
   segment at a time: then they lie anywhere in the program. A header that lies nowhere in its object is none. */
static struct col_code_module make_module(uintptr_t low, uintptr_t high, uintptr_t header)
{
    bool is_inside = header >= low && header < high;
    bool is_elsewhere = header >= self.program_low && header < self.program_high && is_in_program(low, high);
    return (struct col_code_module){.low = low,
                                    .high = high,
                                    .header = is_inside || is_elsewhere ? (const uint8_t *)header : NULL,
                                    .tables_low = is_inside ? low : self.program_low,
                                    .tables_high = is_inside ? high : self.program_high};
}

bool col_code_finder_find(uintptr_t pc, struct col_code_module *module)
{
    struct found_object found;
    struct col_range range;
    if (find_object && find_object((void *)pc, &found) == 0) {
        *module = make_module((uintptr_t)found.map_start, (uintptr_t)found.map_end, (uintptr_t)found.eh_frame_header);
        if (self.met)
            self.met(module->low, module->high, found.link_map);
        return true;
    }
    if (!find_object && col_range_table_find(&modules, pc, &range)) {
        *module = make_module(range.low, range.high, range.payload);
        return true;
    }
    return find_registered(pc, module);
}

/* The ELF header, which the first segment of the module, or of the program that it is a piece of, begins with; NULL when
   this one was linked otherwise. */
static const ElfW(Ehdr) * elf_header_of(const struct col_code_module *module)
{
    uintptr_t low = is_in_program(module->low, module->high) ? self.program_low : module->low;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)low;
    bool is_whole = !module->frames && module->high - low >= COL_PAGE_BYTES && low % COL_PAGE_BYTES == 0 &&
                    col_safe_read_probe(low) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                    header->e_phoff <= COL_PAGE_BYTES &&
                    header->e_phoff + (uint64_t)header->e_phnum * sizeof(ElfW(Phdr)) <= COL_PAGE_BYTES;
    return is_whole ? header : NULL;
}

static const ElfW(Phdr) * segments_of(const ElfW(Ehdr) * header)
{
    return (const ElfW(Phdr) *)((uintptr_t)header + header->e_phoff);
}

/* From an address in the file to one in the process: the lowest segment was loaded where the header is. */
static uintptr_t load_bias_of(const ElfW(Ehdr) * header)
{
    uintptr_t lowest = UINTPTR_MAX;
    for (const ElfW(Phdr) *segment = segments_of(header), *end = segment + header->e_phnum; segment < end; segment++)
        if (segment->p_type == PT_LOAD && segment->p_vaddr < lowest)
            lowest = segment->p_vaddr;
    return (uintptr_t)header - (lowest & ~(uintptr_t)(COL_PAGE_BYTES - 1));
}

static bool is_executable_in(const struct col_code_module *module, uintptr_t pc)
{
    const ElfW(Ehdr) *header = elf_header_of(module);
    if (!header)
        return true;
    uintptr_t elf_address = pc - load_bias_of(header);
    for (const ElfW(Phdr) *segment = segments_of(header), *end = segment + header->e_phnum; segment < end; segment++)
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X && elf_address >= segment->p_vaddr &&
            elf_address - segment->p_vaddr < segment->p_memsz)
            return true;
    return false;
}

static bool is_code(uintptr_t pc, bool may_read_mappings)
{
    struct col_code_module module;
    if (pc < COL_PAGE_BYTES || pc >> COL_ARCH_ADDRESS_BITS)
        return false;
    if (col_code_finder_find(pc, &module))
        return is_executable_in(&module, pc);
    return col_executable_mappings_cover(pc, may_read_mappings);
}

uintptr_t col_code_finder_entry_point(const struct col_code_module *module)
{
    const ElfW(Ehdr) *header = elf_header_of(module);
    return header && header->e_entry != 0 ? load_bias_of(header) + header->e_entry : 0;
}

bool col_code_finder_find_in(struct col_remote_memory *memory, uintptr_t pc, struct col_code_module *module)
{
    return memory != NULL ? col_remote_modules_find(memory, pc, module) : col_code_finder_find(pc, module);
}

bool col_code_finder_is_code_in(struct col_remote_memory *memory, uintptr_t pc)
{
    return memory != NULL ? col_remote_modules_are_code(memory, pc, true) : is_code(pc, true);
}

bool col_code_finder_is_known_code_in(struct col_remote_memory *memory, uintptr_t pc)
{
    return memory != NULL ? col_remote_modules_are_code(memory, pc, false) : is_code(pc, false);
}

uintptr_t col_code_finder_entry_point_in(struct col_remote_memory *memory, const struct col_code_module *module)
{
    return memory != NULL ? col_remote_modules_entry_point(memory, module) : col_code_finder_entry_point(module);
}

/* A module from its first segment to its last; payload = its .eh_frame_hdr. Empty when its headers cannot be read. */
static struct col_range span_of(const struct dl_phdr_info *info)
{
    struct col_range range = {UINTPTR_MAX, 0, 0};
    struct col_proved_pages proved = {.memory = NULL};
    if (!col_safe_read_prove(&proved, (uintptr_t)info->dlpi_phdr, info->dlpi_phnum * sizeof *info->dlpi_phdr))
        return range;
    for (const ElfW(Phdr) *segment = info->dlpi_phdr, *end = segment + info->dlpi_phnum; segment < end; segment++) {
        uintptr_t low = info->dlpi_addr + segment->p_vaddr, high = low + segment->p_memsz;
        if (segment->p_type == PT_GNU_EH_FRAME)
            range.payload = low;
        if (segment->p_type != PT_LOAD)
            continue;
        low &= ~(uintptr_t)(COL_PAGE_BYTES - 1);
        range.low = low < range.low ? low : range.low;
        range.high = high > range.high ? high : range.high;
    }
    return range;
}

/* dl_iterate_phdr's callback: one module into the snapshot. */
static int add_module(struct dl_phdr_info *info, size_t size, void *side)
{
    (void)size;
    struct col_range range = span_of(info);
    if (range.low < range.high)
        col_range_table_add(side, range);
    return 0;
}

/* Likewise, for the first module of all, which is the program. */
static int note_program(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    struct col_range range = span_of(info);
    self.program_low = range.low;
    self.program_high = range.high;
    return 1;
}

void col_code_finder_refresh(void)
{
    struct col_range_side *side;
    if (self.program_high == 0)
        dl_iterate_phdr(note_program, NULL);
    if (find_object)
        return;
    while (!(side = col_range_table_begin(&modules)))
        ; /* another thread is at it, for microseconds */
    dl_iterate_phdr(add_module, side);
    col_range_table_finish(&modules, side);
}

void col_code_finder_after_fork(void)
{
    col_range_table_after_fork(&modules);
    col_executable_mappings_after_fork();
    __atomic_clear(&self.is_registering, __ATOMIC_SEQ_CST);
}

static void lock_registering(void)
{
    while (__atomic_test_and_set(&self.is_registering, __ATOMIC_ACQUIRE))
        ;
}

static void unlock_registering(void)
{
    __atomic_clear(&self.is_registering, __ATOMIC_RELEASE);
}

bool col_code_finder_add_frames(const void *eh_frame_begin)
{
    struct col_code_module module;
    if (!eh_frame_begin || !col_eh_frame_measure(eh_frame_begin, &module))
        return false;
    lock_registering();
    uint32_t end = __atomic_load_n(&self.registered_end, __ATOMIC_RELAXED), place = 0;
    while (place < end && __atomic_load_n(&registered[place].frames, __ATOMIC_RELAXED))
        place++;
    if (place < REGISTERED_TABLES) {
        struct registered *entry = &registered[place];
        __atomic_store_n(&entry->low, module.low, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->high, module.high, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->tables_high, module.tables_high, __ATOMIC_RELAXED);
        __atomic_store_n(&entry->frames, eh_frame_begin, __ATOMIC_RELEASE);
        if (place == end)
            __atomic_store_n(&self.registered_end, end + 1, __ATOMIC_RELEASE);
    }
    unlock_registering();
    return place < REGISTERED_TABLES;
}

void col_code_finder_remove_frames(const void *eh_frame_begin)
{
    lock_registering();
    uint32_t end = __atomic_load_n(&self.registered_end, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < end; i++)
        if (__atomic_load_n(&registered[i].frames, __ATOMIC_RELAXED) == eh_frame_begin)
            __atomic_store_n(&registered[i].frames, NULL, __ATOMIC_RELEASE);
    unlock_registering();
}
