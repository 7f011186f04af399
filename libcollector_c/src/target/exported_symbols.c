/* exported_symbols.c -- what a loaded object exports, read from its memory */
#include "target/exported_symbols.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/safe_read.h"

enum { MOST_TAGS = 256, MOST_IN_CHAIN = 4096, LONGEST_NAME = 64 };

/* Its tables, as addresses. Nothing says how long they are: each piece is proved readable before it is read. */
struct tables {
    struct col_proved_pages proved;
    uintptr_t bias, hash, symbols, strings;
};

/* https://flapenguin.me/elf-dt-gnu-hash describes it: these words, a Bloom filter, the buckets, and a word for each symbol. */
struct header {
    uint32_t bucket_count, first_symbol, filter_words, filter_shift;
};

/* The dynamic linker has made addresses of what were offsets, but not in every object. */
static uintptr_t address_of(const struct tables *tables, uintptr_t value)
{
    return value < tables->bias ? tables->bias + value : value;
}

static bool read(struct tables *tables, uintptr_t at, void *to, size_t bytes)
{
    const uint8_t *view = col_safe_read_view(&tables->proved, at, bytes);
    if (view != NULL)
        memcpy(to, view, bytes);
    return view != NULL;
}

static bool find_tables(struct tables *tables, uintptr_t dynamic)
{
    ElfW(Dyn) entry;
    for (unsigned i = 0; i < MOST_TAGS && read(tables, dynamic + i * sizeof entry, &entry, sizeof entry); i++)
        switch (entry.d_tag) {
        case DT_NULL:
            return tables->hash != 0 && tables->symbols != 0 && tables->strings != 0;
        case DT_GNU_HASH:
            tables->hash = address_of(tables, entry.d_un.d_ptr);
            break;
        case DT_SYMTAB:
            tables->symbols = address_of(tables, entry.d_un.d_ptr);
            break;
        case DT_STRTAB:
            tables->strings = address_of(tables, entry.d_un.d_ptr);
        }
    return false;
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (uint8_t)*name;
    return hash;
}

static bool is_named(struct tables *tables, const ElfW(Sym) * symbol, const char *name)
{
    char found[LONGEST_NAME];
    size_t bytes = strlen(name) + 1;
    return bytes <= sizeof found && read(tables, tables->strings + symbol->st_name, found, bytes) &&
           memcmp(found, name, bytes) == 0;
}

static uintptr_t look_in_chain(struct tables *tables, uintptr_t chain, uint32_t first, uint32_t index, uint32_t hash,
                               const char *name, size_t *bytes)
{
    uint32_t word;
    for (unsigned i = 0; i < MOST_IN_CHAIN; i++, index++) {
        ElfW(Sym) symbol;
        if (!read(tables, chain + (uintptr_t)(index - first) * sizeof word, &word, sizeof word))
            return 0;
        if ((word | 1) == (hash | 1) &&
            read(tables, tables->symbols + (uintptr_t)index * sizeof symbol, &symbol, sizeof symbol) &&
            symbol.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol.st_info) != STT_TLS &&
            is_named(tables, &symbol, name)) {
            *bytes = symbol.st_size;
            return tables->bias + symbol.st_value;
        }
        if (word & 1)
            return 0;
    }
    return 0;
}

uintptr_t col_exported_symbols_find(struct col_remote_memory *memory, uintptr_t bias, uintptr_t dynamic,
                                    const char *name)
{
    size_t bytes;
    return col_exported_symbols_measure(memory, bias, dynamic, name, &bytes);
}

uintptr_t col_exported_symbols_measure(struct col_remote_memory *memory, uintptr_t bias, uintptr_t dynamic,
                                       const char *name, size_t *bytes)
{
    struct tables tables = {.proved = {.memory = memory}, .bias = bias};
    struct header header;
    uint64_t filter;
    uint32_t hash = hash_of(name), index;
    if (!find_tables(&tables, dynamic) || !read(&tables, tables.hash, &header, sizeof header) ||
        header.bucket_count == 0 || header.filter_words == 0)
        return 0;
    uintptr_t filters = tables.hash + sizeof header, buckets = filters + header.filter_words * sizeof filter;
    if (!read(&tables, filters + hash / 64 % header.filter_words * sizeof filter, &filter, sizeof filter) ||
        !(filter >> hash % 64 & filter >> (hash >> header.filter_shift % 32) % 64 & 1) ||
        !read(&tables, buckets + hash % header.bucket_count * sizeof index, &index, sizeof index) ||
        index < header.first_symbol)
        return 0;
    return look_in_chain(&tables, buckets + header.bucket_count * sizeof index, header.first_symbol, index, hash, name,
                         bytes);
}
