/* deep_binding.c -- libraries that are loaded with RTLD_DEEPBIND call the C library past what stands in front of it */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/deep_binding.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/real.h"
#include "target/exported_symbols.h"

enum { MAX_LOADED = 256 };

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* Where those objects lie that stand in the loader's list from the first on: the opened one, and what was loaded for it. */
struct loaded {
    uintptr_t first;
    bool is_reached;
    size_t count;
    uintptr_t biases[MAX_LOADED];
};

/* What the dynamic section of a loaded library says, as addresses. */
struct library {
    uintptr_t bias;
    const ElfW(Sym) * symbols;
    const char *strings;
    struct {
        const ElfW(Rela) * first;
        size_t bytes;
    } tables[2];
    size_t relative_count; /* at the start of the first table: of no symbol */
    const ElfW(Dyn) * dynamic;
    uintptr_t sealed, sealed_end; /* read-only once it is relocated */
};

bool col_deep_binding_can_open(const char *file, int mode)
{
    return (mode & RTLD_DEEPBIND) != 0 && file != NULL && strchr(file, '/') != NULL && strchr(file, '$') == NULL;
}

static bool read_dynamic(const struct link_map *map, struct library *library)
{
    for (const ElfW(Dyn) *entry = map->l_ld; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        uintptr_t value = entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_SYMTAB:
            library->symbols = (const ElfW(Sym) *)value;
            break;
        case DT_STRTAB:
            library->strings = (const char *)value;
            break;
        case DT_RELA:
            library->tables[0].first = (const ElfW(Rela) *)value;
            break;
        case DT_RELASZ:
            library->tables[0].bytes = value;
            break;
        case DT_RELACOUNT:
            library->relative_count = value;
            break;
        case DT_JMPREL:
            library->tables[1].first = (const ElfW(Rela) *)value;
            break;
        case DT_PLTRELSZ:
            library->tables[1].bytes = value;
        }
    }
    library->bias = map->l_addr;
    library->dynamic = map->l_ld;
    return (uintptr_t)library->symbols > library->bias && (uintptr_t)library->strings > library->bias;
}

static void find_sealed(const struct link_map *map, struct library *library)
{
    Dl_info info;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (dladdr(map->l_ld, &info) == 0 || memcmp(info.dli_fbase, ELFMAG, SELFMAG) != 0)
        return;
    const ElfW(Ehdr) *header = info.dli_fbase;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)((const char *)info.dli_fbase + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_GNU_RELRO) {
            library->sealed = (library->bias + segments[i].p_vaddr) & ~(page - 1);
            library->sealed_end = (library->bias + segments[i].p_vaddr + segments[i].p_memsz) & ~(page - 1);
        }
}

/* What of ours is to be called by that name instead of what the library found; 0 if that is not the C library's, or not one of those we stand in front of. */
static uintptr_t ours_for(void *handle, const char *name)
{
    uintptr_t ours = col_exported_symbols_find(NULL, (uintptr_t)&__ehdr_start, (uintptr_t)_DYNAMIC, name);
    void *real = ours != 0 ? dlsym(RTLD_NEXT, name) : NULL;
    return real != NULL && dlsym(handle, name) == real ? ours : 0;
}

static void set_word(const struct library *library, uintptr_t *word, uintptr_t value)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)word & ~(page - 1);
    bool is_sealed = (uintptr_t)word >= library->sealed && (uintptr_t)word < library->sealed_end;
    if (is_sealed && mprotect((void *)start, page, PROT_READ | PROT_WRITE) != 0)
        return;
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
    if (is_sealed)
        mprotect((void *)start, page, PROT_READ);
}

static void undo_in(void *handle, const struct library *library)
{
    for (unsigned t = 0; t < 2; t++) {
        size_t count = library->tables[t].bytes / sizeof(ElfW(Rela));
        for (size_t i = t == 0 ? library->relative_count : 0; i < count; i++) {
            const ElfW(Rela) *entry = &library->tables[t].first[i];
            const ElfW(Sym) *symbol = &library->symbols[ELF64_R_SYM(entry->r_info)];
            uintptr_t *word = (uintptr_t *)(library->bias + entry->r_offset);
            if (!col_arch_is_symbol_word(ELF64_R_TYPE(entry->r_info)) || entry->r_addend != 0 ||
                symbol->st_shndx != SHN_UNDEF || (uintptr_t)word % sizeof *word != 0)
                continue;
            uintptr_t ours = ours_for(handle, library->strings + symbol->st_name);
            if (ours != 0 && *word != ours)
                set_word(library, word, ours);
        }
    }
}

static int note_loaded(struct dl_phdr_info *info, size_t size, void *context)
{
    struct loaded *loaded = context;
    (void)size;
    loaded->is_reached = loaded->is_reached || info->dlpi_addr == loaded->first;
    if (loaded->is_reached)
        loaded->biases[loaded->count++] = info->dlpi_addr;
    return loaded->count == MAX_LOADED;
}

static bool take_loaded(struct loaded *loaded, uintptr_t bias)
{
    for (size_t i = 0; i < loaded->count; i++)
        if (loaded->biases[i] == bias) {
            loaded->biases[i] = loaded->biases[--loaded->count];
            return true;
        }
    return false;
}

/*
 * In one object, and in those that it needs. The opened one holds them all, and another thread can unload none: so nothing else of the loader's list is read, where
 * objects come and go.
 */
static void undo_from(void *handle, void *object, struct loaded *loaded)
{
    struct link_map *map;
    struct library library = {0};
    if (dlinfo(object, RTLD_DI_LINKMAP, &map) != 0 || !take_loaded(loaded, map->l_addr) || !read_dynamic(map, &library))
        return;
    find_sealed(map, &library);
    undo_in(handle, &library);
    for (const ElfW(Dyn) *entry = library.dynamic; entry->d_tag != DT_NULL; entry++) {
        const char *name = library.strings + entry->d_un.d_val;
        void *needed = entry->d_tag == DT_NEEDED ? COL_REAL(dlopen)(name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (needed == NULL)
            continue;
        undo_from(handle, needed, loaded);
        COL_REAL(dlclose)(needed);
    }
}

void col_deep_binding_undo(void *handle)
{
    struct link_map *map;
    struct loaded loaded = {0};
    if (handle == NULL || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
        return;
    loaded.first = map->l_addr;
    dl_iterate_phdr(note_loaded, &loaded);
    undo_from(handle, handle, &loaded);
    dlerror(); /* what dlsym did not find is nobody's error */
}
