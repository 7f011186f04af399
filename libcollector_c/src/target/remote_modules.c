/* remote_modules.c -- which code another process has, and where its unwind tables are */
#include "target/remote_modules.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/text_format.h"
#include "target/mapping_lines.h"

enum {
    CHUNK_BYTES = 4096, /* the kernel gives a page at a time */
    FIRST_TABLE_BYTES = 4096,
    MOST_TABLE_BYTES = 1 << 22,
    REST_PER_READING = 50, /* after a reading that took t, none for 50 t: at most 2 % of the time goes into it */
    SHORTEST_REST_NS = 10000000,
    TRUST_PER_READING = 1000,
    MOST_DOUBLINGS = 8, /* after readings in vain the rest grows up to 2^8 times as long */
};

#define SHORTEST_TRUST_NS UINT64_C(5000000000)

struct module {
    uintptr_t low, high;
    uintptr_t header;              /* .eh_frame_hdr, 0: none */
    uintptr_t frames, frames_high; /* .eh_frame, where that has none */
    uintptr_t entry, code, bias;
    uintptr_t dynamic; /* its dynamic section, 0: none */
};

struct range {
    uintptr_t low, high;
};

struct table {
    void *items;
    size_t count, bytes;
};

struct col_remote_modules {
    struct table modules, code; /* of struct module and struct range, in the order of their addresses */
    uint64_t version;
    uint64_t next_reading_ns;
    uint64_t doubtful_ns; /* from then on what is known may be of code that another took the place of */
    unsigned readings_in_vain;
    bool is_expected; /* to be read again */
};

/* ---- tables ---- */

static bool add(struct table *table, const void *item, size_t bytes)
{
    if ((table->count + 1) * bytes > table->bytes) {
        size_t larger = table->bytes != 0 ? 2 * table->bytes : FIRST_TABLE_BYTES;
        void *items = larger <= MOST_TABLE_BYTES ? col_os_map_memory(larger) : NULL;
        if (items == NULL)
            return false;
        if (table->bytes != 0) {
            memcpy(items, table->items, table->bytes);
            col_os_unmap(table->items, table->bytes);
        }
        *table = (struct table){items, table->count, larger};
    }
    memcpy((char *)table->items + bytes * table->count++, item, bytes);
    return true;
}

static void free_table(struct table *table)
{
    if (table->bytes != 0)
        col_os_unmap(table->items, table->bytes);
    *table = (struct table){NULL, 0, 0};
}

static const struct range *find_code(const struct col_remote_modules *modules, uintptr_t pc)
{
    const struct range *ranges = modules->code.items;
    size_t low = 0, high = modules->code.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].high <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low < modules->code.count && ranges[low].low <= pc ? &ranges[low] : NULL;
}

/* Modules may lie in gaps of others: the one that begins last is meant. */
static const struct module *find_module(const struct col_remote_modules *modules, uintptr_t pc)
{
    const struct module *all = modules->modules.items;
    size_t low = 0, high = modules->modules.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all[middle].low <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && pc >= all[low - 1].high)
        low--;
    return low > 0 ? &all[low - 1] : NULL;
}

/* ---- reading ---- */

static uintptr_t page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(COL_PAGE_BYTES - 1);
}

static bool read_all_of(int fd, void *data, size_t bytes, uint64_t offset)
{
    return col_os_read_at(fd, data, bytes, offset) == (ssize_t)bytes;
}

/* Where the segments lie if the file's beginning is at `start`. False: they do not fit. */
static bool lay_out(uintptr_t start, const Elf64_Ehdr *header, const uint8_t *segments, struct module *module)
{
    uintptr_t lowest = UINTPTR_MAX, highest = 0, tables = 0, dynamic = 0, code = 0;
    Elf64_Phdr segment;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        memcpy(&segment, segments + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_GNU_EH_FRAME)
            tables = segment.p_vaddr;
        if (segment.p_type == PT_DYNAMIC)
            dynamic = segment.p_vaddr;
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
            continue;
        if (lowest == UINTPTR_MAX) /* they are in the order of their addresses, and the file begins with the first */
            lowest = page_of(segment.p_vaddr) - page_of(segment.p_offset);
        if (segment.p_vaddr > UINTPTR_MAX - segment.p_memsz)
            return false;
        highest = segment.p_vaddr + segment.p_memsz > highest ? segment.p_vaddr + segment.p_memsz : highest;
        if (code == 0 && segment.p_flags & PF_X)
            code = segment.p_vaddr;
    }
    uintptr_t bias = start - lowest;
    if (lowest >= highest || code == 0 || (highest - lowest) >> COL_ARCH_ADDRESS_BITS != 0)
        return false;
    *module = (struct module){.low = start, .high = bias + highest, .code = bias + code, .bias = bias};
    module->dynamic = dynamic != 0 ? bias + dynamic : 0;
    module->header = tables > lowest && tables < highest ? bias + tables : 0;
    module->entry = header->e_entry != 0 ? bias + header->e_entry : 0;
    return true;
}

/*
 * A program that was linked statically has a table and nothing in memory that says where: its file does, in a section of that name. `header` is what the module
 * begins with, and `bias` from an address in the file to one in memory.
 */
static void find_frames(struct col_remote_memory *memory, const Elf64_Ehdr *header, uintptr_t bias,
                        struct module *module)
{
    Elf64_Ehdr of_file;
    Elf64_Shdr names, section;
    char path[32], name[sizeof ".eh_frame"];
    col_text_print_into(path, sizeof path, "/proc/%d/exe", (int)memory->pid);
    int fd = col_os_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return;
    bool is_same = read_all_of(fd, &of_file, sizeof of_file, 0) && memcmp(&of_file, header, sizeof of_file) == 0 &&
                   header->e_shentsize == sizeof section && header->e_shstrndx < header->e_shnum &&
                   read_all_of(fd, &names, sizeof names, header->e_shoff + header->e_shstrndx * sizeof names);
    for (unsigned i = 0; is_same && i < header->e_shnum && module->frames == 0; i++) {
        if (!read_all_of(fd, &section, sizeof section, header->e_shoff + i * sizeof section))
            break;
        uintptr_t low = bias + section.sh_addr, high = low + section.sh_size;
        if ((section.sh_flags & SHF_ALLOC) != 0 && low >= module->low && low < high && high <= module->high &&
            read_all_of(fd, name, sizeof name, names.sh_offset + section.sh_name) &&
            memcmp(name, ".eh_frame", sizeof name) == 0)
            module->frames = low, module->frames_high = high;
    }
    col_os_close(fd);
}

/* Reads the header of an ELF file that is mapped at `start`. */
static bool read_header(struct col_remote_memory *memory, uintptr_t start, struct module *module)
{
    uint8_t page[COL_PAGE_BYTES];
    Elf64_Ehdr header;
    size_t got = col_remote_memory_read(memory, start, page, sizeof page);
    if (got < sizeof header)
        return false;
    memcpy(&header, page, sizeof header);
    bool is_ours = memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                   header.e_machine == COL_ARCH_MACHINE && header.e_phentsize == sizeof(Elf64_Phdr);
    if (!is_ours || header.e_phoff > got || header.e_phnum > (got - header.e_phoff) / sizeof(Elf64_Phdr) ||
        !lay_out(start, &header, page + header.e_phoff, module))
        return false;
    if (module->header == 0 && header.e_entry != 0)
        find_frames(memory, &header, module->bias, module);
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    return (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
}

static bool add_code(struct table *code, const struct col_mapping *mapping)
{
    struct range *ranges = code->items, range = {mapping->low, mapping->high};
    if (code->count == 0 || ranges[code->count - 1].high != mapping->low)
        return add(code, &range, sizeof range);
    ranges[code->count - 1].high = mapping->high;
    return true;
}

/* What is only data, or a file that lies there to be looked at, has no code where its header says. */
static void keep_those_with_code(struct col_remote_modules *modules)
{
    struct module *all = modules->modules.items;
    size_t kept = 0;
    for (size_t i = 0; i < modules->modules.count; i++)
        if (find_code(modules, all[i].code) != NULL)
            all[kept++] = all[i];
    modules->modules.count = kept;
}

/* False when not all could be read: then what there is says nothing about the rest. */
static bool read_all(struct col_remote_memory *memory)
{
    struct col_remote_modules *modules = memory->modules;
    struct col_mapping_lines lines;
    struct col_mapping mapping;
    struct module module;
    char path[32], chunk[CHUNK_BYTES];
    bool is_complete = true;
    uint64_t version = 1;
    modules->modules.count = modules->code.count = 0;
    col_text_print_into(path, sizeof path, "/proc/%d/maps", (int)memory->pid);
    if (!col_mapping_lines_open(&lines, path, chunk, sizeof chunk))
        return false;
    while (is_complete && col_mapping_lines_next(&lines, &mapping)) {
        bool may_have_header = mapping.file_offset == 0 && mapping.is_readable &&
                               (mapping.has_file || mapping.is_executable); /* the vdso has no file */
        if (mapping.high >> COL_ARCH_ADDRESS_BITS != 0)
            break;
        if (mapping.is_executable) {
            is_complete = add_code(&modules->code, &mapping);
            version = mix(mix(mix(version, mapping.low), mapping.high), mapping.file_offset);
        }
        if (may_have_header && read_header(memory, mapping.low, &module)) {
            is_complete &= add(&modules->modules, &module, sizeof module);
            version = mix(mix(version, module.low), module.header);
        }
    }
    is_complete &= col_mapping_lines_close(&lines);
    keep_those_with_code(modules);
    modules->version = version;
    return is_complete;
}

static void rest(struct col_remote_modules *modules, uint64_t begun_ns)
{
    uint64_t ended_ns = col_clock_now(), rest_ns = (ended_ns - begun_ns) * REST_PER_READING;
    rest_ns = rest_ns > SHORTEST_REST_NS ? rest_ns : SHORTEST_REST_NS;
    modules->next_reading_ns = ended_ns + (rest_ns << modules->readings_in_vain);
    uint64_t trusted_ns = (ended_ns - begun_ns) * TRUST_PER_READING;
    modules->doubtful_ns = ended_ns + (trusted_ns > SHORTEST_TRUST_NS ? trusted_ns : SHORTEST_TRUST_NS);
}

/* Reads if it is time. False: it was not. */
static bool read_again(struct col_remote_memory *memory, bool is_in_need)
{
    if (memory->modules == NULL) {
        memory->modules = col_os_map_memory(sizeof *memory->modules);
        if (memory->modules == NULL)
            return false;
        memory->modules->is_expected = true;
    }
    struct col_remote_modules *modules = memory->modules;
    uint64_t begun_ns = modules->is_expected || is_in_need ? col_clock_now() : 0;
    if (!modules->is_expected && (!is_in_need || begun_ns < modules->next_reading_ns))
        return false;
    modules->is_expected = false;
    if (!read_all(memory))
        modules->modules.count = modules->code.count = 0;
    rest(modules, begun_ns);
    return true;
}

/* ---- questions ---- */

/* Without a module of ours, if only the vdso, what it executes is code of another processor. */
static bool is_known(const struct col_remote_modules *modules, uintptr_t pc)
{
    return modules->modules.count != 0 && find_code(modules, pc) != NULL;
}

static bool is_code(struct col_remote_memory *memory, uintptr_t pc, bool may_read)
{
    read_again(memory, false);
    if (memory->modules == NULL)
        return false;
    if (is_known(memory->modules, pc))
        return true;
    if (!may_read || pc < COL_PAGE_BYTES || pc >> COL_ARCH_ADDRESS_BITS != 0 || !read_again(memory, true))
        return false;
    bool is_found = is_known(memory->modules, pc);
    unsigned *in_vain = &memory->modules->readings_in_vain;
    *in_vain = is_found ? 0 : *in_vain + (*in_vain < MOST_DOUBLINGS);
    return is_found;
}

bool col_remote_modules_are_code(struct col_remote_memory *memory, uintptr_t pc, bool may_read)
{
    return is_code(memory, pc, may_read);
}

bool col_remote_modules_find(struct col_remote_memory *memory, uintptr_t pc, struct col_code_module *module)
{
    const struct module *found = is_code(memory, pc, true) ? find_module(memory->modules, pc) : NULL;
    if (found == NULL)
        return false;
    *module = (struct col_code_module){.low = found->low,
                                       .high = found->high,
                                       .header = (const uint8_t *)found->header,
                                       .frames = (const uint8_t *)found->frames,
                                       .tables_low = found->frames != 0 ? found->frames : found->low,
                                       .tables_high = found->frames != 0 ? found->frames_high : found->high};
    return true;
}

uintptr_t col_remote_modules_entry_point(struct col_remote_memory *memory, const struct col_code_module *module)
{
    const struct module *found = memory->modules != NULL ? find_module(memory->modules, module->low) : NULL;
    return found != NULL && found->low == module->low ? found->entry : 0;
}

bool col_remote_modules_next_object(const struct col_remote_memory *memory, size_t *index,
                                    struct col_remote_object *object)
{
    const struct col_remote_modules *modules = memory->modules;
    const struct module *all = modules != NULL ? modules->modules.items : NULL;
    for (size_t count = modules != NULL ? modules->modules.count : 0; *index < count; ++*index)
        if (all[*index].dynamic != 0) {
            const struct module *found = &all[(*index)++];
            *object = (struct col_remote_object){found->low, found->high, found->bias, found->dynamic};
            return true;
        }
    return false;
}

uint64_t col_remote_modules_version(const struct col_remote_memory *memory)
{
    return memory->modules != NULL ? memory->modules->version : 0;
}

void col_remote_modules_begin(struct col_remote_memory *memory)
{
    if (memory->modules != NULL && col_clock_now() >= memory->modules->doubtful_ns)
        memory->modules->is_expected = true;
}

void col_remote_modules_expect(struct col_remote_memory *memory)
{
    if (memory->modules != NULL)
        memory->modules->is_expected = true;
}

void col_remote_modules_close(struct col_remote_memory *memory)
{
    if (memory->modules == NULL)
        return;
    free_table(&memory->modules->modules);
    free_table(&memory->modules->code);
    col_os_unmap(memory->modules, sizeof *memory->modules);
    memory->modules = NULL;
}
