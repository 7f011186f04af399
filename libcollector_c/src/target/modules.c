/* modules.c -- which objects are loaded where, as the log is told */
#include "target/modules.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/kept_text.h"
#include "base/os.h"
#include "base/safe_read.h"
#include "base/sparse.h"
#include "experiment/event.h"
#include "experiment/log_writer.h"
#include "target/code_finder.h"
#include "target/executable_mappings.h"
#include "target/java_runtime.h"
#include "target/module_identity.h"
#include "target/python_runtime.h"
#include "target/stack_room.h"

#define TABLE_SIZE 4096u      /* well above what any program loads; one that loads more has the rest unnamed */
#define MOVING ((uintptr_t)1) /* an entry's `low` while it is being filled: no object begins there */
#define GONE ((uintptr_t)2)   /* an entry that was in use */
#define COMPARED_PLACES 8u
#define COMPARED_BYTES 64u
#define ROOM_BYTES 3072u /* of stack that telling the log of an object may need */

/* An object is known by the range the code finder gives it, which may be less than all of it; the log is told all. */
struct entry {
    uintptr_t low, high;  /* as found */
    uintptr_t start, end; /* as written */
};

static struct {
    bool has_begun;         /* the objects that were there when the program began are written */
    bool is_listing;        /* the whole list is being written: what the finder meets on the way is on it */
    uint32_t end;           /* atomic: behind the last entry that was ever in use */
    uint64_t since_ns;      /* an object first seen now was loaded at this time or later */
    const char *executable; /* NULL: not known yet */
} self;

static struct entry
    entries[TABLE_SIZE] COL_SPARSE; /* in the order they came, so that a short-lived process touches one page of them */

/* An entry that nobody uses, now the caller's; NULL: the table is full. */
static struct entry *take_free(void)
{
    for (uint32_t i = 0; i < TABLE_SIZE; i++) {
        uintptr_t found = 0; /* stored to before it is read, so that a new page is faulted in once */
        if (!__atomic_compare_exchange_n(&entries[i].low, &found, MOVING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
            (found != GONE ||
             !__atomic_compare_exchange_n(&entries[i].low, &found, MOVING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)))
            continue;
        uint32_t end = __atomic_load_n(&self.end, __ATOMIC_RELAXED);
        while (end <= i &&
               !__atomic_compare_exchange_n(&self.end, &end, i + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        return &entries[i];
    }
    return NULL;
}

/* The entry of an object that is new, now the caller's to fill; NULL when it is known or the table is full. */
static struct entry *claim(uintptr_t low, uintptr_t high)
{
    uint32_t end = __atomic_load_n(&self.end, __ATOMIC_ACQUIRE);
    for (const struct entry *entry = entries; entry < entries + end; entry++)
        if (__atomic_load_n(&entry->low, __ATOMIC_ACQUIRE) == low && entry->high == high)
            return NULL;
    return take_free();
}

static void write_object(struct entry *entry, uintptr_t found_low, uintptr_t found_high,
                         const struct col_module_object *object)
{
    struct col_event_mappingchange change = {.action = COL_MAP_INSERT,
                                             .map_kind = COL_MAP_OBJECT,
                                             .start = object->low,
                                             .end = object->high,
                                             .bias = object->bias,
                                             .path = object->path,
                                             .build_id = object->build_id,
                                             .build_id_bytes = object->build_id_bytes};
    struct col_os_file file;
    if (object->has_text && col_os_describe_path(object->path, &file) == 0) {
        change.has_file = true;
        change.file_bytes = file.bytes;
        change.file_changed_ns = file.changed_ns;
        change.text_checksum = object->text_checksum;
    }
    bool is_written = col_event_mappingchange((struct col_event_head){self.since_ns, 0}, &change) == 0;
    if (object->dynamic != 0)
        col_java_runtime_meet(object->path, object->low, object->high, object->bias, object->dynamic);
    if (object->dynamic != 0)
        col_python_runtime_meet(&(struct col_python_object){object->path, object->low, object->high, object->bias,
                                                            object->dynamic, !self.has_begun,
                                                            col_modules_executable()});
    entry->high = found_high;
    entry->start = object->low;
    entry->end = object->high;
    __atomic_store_n(&entry->low, is_written ? found_low : GONE, __ATOMIC_RELEASE); /* not written: met again later */
}

static const char *name_of(const char *name)
{
    if (name == NULL || name[0] == '\0')
        return col_modules_executable();
    return strncmp(name, "linux-vdso", 10) == 0 ? "[vdso]" : name;
}

void col_modules_meet(uintptr_t low, uintptr_t high, const void *link_map)
{
    if (!col_log_writer_is_open() || self.is_listing || !col_stack_room_has(ROOM_BYTES))
        return;
    struct entry *entry = claim(low, high);
    if (entry == NULL)
        return;
    const struct link_map *map = link_map;
    struct col_module_object object = {.low = low,
                                       .high = high,
                                       .bias = map != NULL ? map->l_addr : low,
                                       .path = name_of(map != NULL ? map->l_name : "")};
    col_module_identity_find(&object);
    write_object(entry, low, high, &object);
}

/* Sets the object's range and returns an address of its code, 0 if it has none. */
static uintptr_t measure(struct col_module_object *object, const ElfW(Phdr) * segments, size_t count)
{
    uintptr_t code = 0;
    for (const ElfW(Phdr) *segment = segments, *end = segment + count; segment < end; segment++) {
        uintptr_t low = (object->bias + segment->p_vaddr) & ~(uintptr_t)4095,
                  high = object->bias + segment->p_vaddr + segment->p_memsz;
        if (segment->p_type != PT_LOAD)
            continue;
        object->low = low < object->low ? low : object->low;
        object->high = high > object->high ? high : object->high;
        if (segment->p_flags & PF_X)
            code = object->bias + segment->p_vaddr;
    }
    return code;
}

static int meet_listed(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size, (void)argument;
    struct col_module_object object = {.low = UINTPTR_MAX, .bias = info->dlpi_addr, .path = name_of(info->dlpi_name)};
    struct col_proved_pages proved = {
        .memory = NULL}; /* its headers lie in the object, of which the program may have unmapped any part */
    bool is_there =
        col_safe_read_prove(&proved, (uintptr_t)info->dlpi_phdr, info->dlpi_phnum * sizeof *info->dlpi_phdr);
    uintptr_t code = is_there ? measure(&object, info->dlpi_phdr, info->dlpi_phnum) : 0;
    struct col_code_module found;
    if (code == 0)
        return 0;
    if (!col_code_finder_find(code, &found) || found.frames != NULL)
        found.low = object.low, found.high = object.high;
    struct entry *entry = claim(found.low, found.high);
    if (entry != NULL) {
        col_module_identity_read(&object, info->dlpi_phdr, info->dlpi_phnum);
        write_object(entry, found.low, found.high, &object);
    }
    return 0;
}

/* The program headers of an object, by its place in the dynamic linker's list; the program itself stands first and may lie anywhere. */
static bool describe(const struct link_map *map, struct dl_phdr_info *info)
{
    struct col_proved_pages proved = {.memory = NULL};
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)map->l_addr;
    *info = (struct dl_phdr_info){.dlpi_addr = map->l_addr, .dlpi_name = map->l_name};
    if (map == _r_debug.r_map) {
        info->dlpi_phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR);
        info->dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM);
        return info->dlpi_phdr != NULL;
    }
    if (!col_safe_read_prove(&proved, map->l_addr, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    info->dlpi_phdr = (const ElfW(Phdr) *)(map->l_addr + header->e_phoff);
    info->dlpi_phnum = header->e_phnum;
    return true;
}

/* The next object of the dynamic linker's list that can be read, from `map` on; false at its end. No lock is taken. */
static bool next_listed(const struct link_map **map, struct dl_phdr_info *info)
{
    struct col_proved_pages proved = {.memory = NULL};
    for (unsigned count = 0;
         count < TABLE_SIZE && *map != NULL && col_safe_read_prove(&proved, (uintptr_t)*map, sizeof **map); count++) {
        const struct link_map *here = *map;
        *map = here->l_next;
        if (describe(here, info))
            return true;
    }
    return false;
}

/*
 * What dl_iterate_phdr does, without its lock: another thread of the parent may have held that at the fork, inside dlopen, and would never let it go in the child.
 * Objects of other namespaces (dlmopen) are written when they are first met.
 */
static void walk_list(void)
{
    struct dl_phdr_info info;
    const struct link_map *map = _r_debug.r_map;
    for (unsigned count = 0; count < TABLE_SIZE && next_listed(&map, &info); count++)
        meet_listed(&info, sizeof info, NULL);
}

static void write_list(bool is_fork_child)
{
    self.is_listing = true;
    col_event_batch_begin();
    if (is_fork_child)
        walk_list();
    else
        dl_iterate_phdr(meet_listed, NULL);
    col_event_batch_finish();
    self.is_listing = false;
}

/* True when the places, whole pages of code, hold the same, by some of it. */
static bool is_same_code(uintptr_t one, uintptr_t other, size_t bytes)
{
    char ones[COMPARED_BYTES], others[COMPARED_BYTES];
    for (size_t at = 0; at < bytes; at += bytes / COMPARED_PLACES)
        if (!col_safe_read_bytes(one + at, ones, sizeof ones) ||
            !col_safe_read_bytes(other + at, others, sizeof others) || memcmp(ones, others, sizeof ones) != 0)
            return false;
    return true;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + COL_PAGE_BYTES - 1) & ~((size_t)COL_PAGE_BYTES - 1);
}

struct mapping {
    uintptr_t start, end;
    uint64_t file_offset;
};

/* Writes the mapping as one more object if it holds code of this one: then true. */
static bool meet_copied(const struct dl_phdr_info *info, const struct mapping *mapping)
{
    struct col_module_object object = {.low = UINTPTR_MAX, .bias = info->dlpi_addr};
    struct col_proved_pages proved = {.memory = NULL};
    if (!col_safe_read_prove(&proved, (uintptr_t)info->dlpi_phdr, info->dlpi_phnum * sizeof *info->dlpi_phdr))
        return false;
    measure(&object, info->dlpi_phdr, info->dlpi_phnum);
    for (const ElfW(Phdr) *segment = info->dlpi_phdr, *end = segment + info->dlpi_phnum; segment < end; segment++) {
        uint64_t inside = mapping->file_offset - segment->p_offset;
        uintptr_t elf_address = segment->p_vaddr + inside;
        size_t bytes = mapping->end - mapping->start;
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_X) == 0 || mapping->file_offset < segment->p_offset ||
            inside >= segment->p_filesz || bytes > whole_pages(segment->p_filesz - inside) ||
            !is_same_code(mapping->start, object.bias + elf_address, bytes))
            continue;
        struct entry *entry = NULL;
        if (info->dlpi_name == NULL || col_safe_read_probe((uintptr_t)info->dlpi_name)) /* it may be on its way out */
            entry = claim(mapping->start, mapping->end);
        if (entry == NULL)
            return true;
        object.path = name_of(info->dlpi_name);
        col_module_identity_read(&object, info->dlpi_phdr, info->dlpi_phnum);
        object.low = mapping->start;
        object.high = mapping->end;
        object.bias = mapping->start - elf_address;
        object.dynamic = 0; /* only the original's counts */
        write_object(entry, object.low, object.high, &object);
        return true;
    }
    return false;
}

/* True inside an object that was written, or is being written. */
static bool is_known(uintptr_t address)
{
    uint32_t end = __atomic_load_n(&self.end, __ATOMIC_ACQUIRE);
    for (const struct entry *entry = entries; entry < entries + end; entry++) {
        uintptr_t low = __atomic_load_n(&entry->low, __ATOMIC_ACQUIRE);
        if (low == MOVING || (low > GONE && address >= entry->start && address < entry->end))
            return true;
    }
    return false;
}

/* An executable mapping may be one that the program made of a loaded object's code, as V8 does to have its built-in functions near what it compiles.
   Memory without a file, of which compilers may have much, has no offset, and is not looked at. */
static void meet_mapping(uintptr_t start, uintptr_t end, uint64_t file_offset)
{
    struct mapping mapping = {start, end, file_offset};
    struct dl_phdr_info info;
    const struct link_map *map = _r_debug.r_map;
    bool is_done = file_offset == 0 || !col_log_writer_is_open() || self.is_listing || is_known(start);
    for (unsigned count = 0; !is_done && count < TABLE_SIZE && next_listed(&map, &info); count++)
        is_done = meet_copied(&info, &mapping);
}

void col_modules_prepare(void)
{
    char path[PATH_MAX];
    if (self.executable != NULL)
        return; /* a fork child runs what its parent ran */
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    self.executable = col_kept_text_join(path, "");
}

const char *col_modules_executable(void)
{
    return self.executable != NULL ? self.executable : "";
}

void col_modules_begin(bool is_fork_child)
{
    self.since_ns = col_clock_now();
    col_code_finder_observe(col_modules_meet);
    col_executable_mappings_observe(meet_mapping, ROOM_BYTES);
    write_list(is_fork_child);
    self.has_begun = true;
}

void col_modules_expect(void)
{
    __atomic_store_n(&self.since_ns, col_clock_now(), __ATOMIC_RELAXED);
    col_java_runtime_look();
}

static bool is_loaded(const struct entry *entry)
{
    struct col_code_module module;
    return col_code_finder_find(entry->low, &module) && module.low == entry->low && module.high == entry->high;
}

void col_modules_rescan(void)
{
    if (!col_log_writer_is_open())
        return;
    uint64_t now_ns = col_clock_now();
    for (uint32_t i = 0; i < self.end; i++) {
        struct entry entry = entries[i];
        if (entry.low <= GONE || is_loaded(&entry))
            continue;
        struct col_event_mappingchange change = {
            .action = COL_MAP_DELETE, .map_kind = COL_MAP_OBJECT, .start = entry.start, .end = entry.end};
        __atomic_store_n(&entries[i].low, GONE, __ATOMIC_RELEASE);
        col_event_mappingchange((struct col_event_head){now_ns, 0}, &change);
    }
    self.since_ns = now_ns;
    write_list(false);
}

void col_modules_forget(void)
{
    memset(entries, 0, self.end * sizeof *entries);
    self.end = 0;
}
