/* elf_view.c -- an ELF file whose bytes lie in memory: where its code is */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "target/elf_view.h"

#include <elf.h>
#include <string.h>

#define PAGE_BYTES UINT64_C(4096)

/* A piece of the file, NULL if it is not all there. */
static const void *piece(const struct col_elf_view *view, uint64_t offset, uint64_t bytes)
{
    return offset <= view->size && bytes <= view->size - offset ? view->bytes + offset : NULL;
}

/* The header is copied, because bytes in memory may be aligned in any way. */
static bool read_header(const struct col_elf_view *view, Elf64_Ehdr *header)
{
    static const uint8_t word[2] = {ELFDATA2LSB, ELFDATA2MSB};
    static const uint16_t one = 1;
    const void *bytes = piece(view, 0, sizeof *header);
    if (bytes == NULL)
        return false;
    memcpy(header, bytes, sizeof *header);
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == word[*(const uint8_t *)&one != 1];
}

static bool read_section(const struct col_elf_view *view, const Elf64_Ehdr *header, uint64_t index, Elf64_Shdr *section)
{
    const void *bytes = header->e_shentsize >= sizeof *section
                            ? piece(view, header->e_shoff + index * header->e_shentsize, sizeof *section)
                            : NULL;
    if (bytes == NULL)
        return false;
    memcpy(section, bytes, sizeof *section);
    return true;
}

/* From 65280 sections on the count stands in the first of them. */
static uint64_t section_count(const struct col_elf_view *view, const Elf64_Ehdr *header)
{
    Elf64_Shdr first;
    if (header->e_shnum != 0 || header->e_shoff == 0 || !read_section(view, header, 0, &first))
        return header->e_shnum;
    return first.sh_size;
}

static bool is_code(const Elf64_Shdr *section)
{
    return (section->sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR) && section->sh_size != 0;
}

bool col_elf_view_is_sound(const struct col_elf_view *view)
{
    Elf64_Ehdr header;
    return read_header(view, &header) &&
           piece(view, header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize) != NULL &&
           piece(view, header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize) != NULL;
}

bool col_elf_view_is_relocatable(const struct col_elf_view *view)
{
    Elf64_Ehdr header;
    return read_header(view, &header) && header.e_type == ET_REL;
}

bool col_elf_view_segments(const struct col_elf_view *view, uint64_t *first, uint64_t *last)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    *first = UINT64_MAX;
    *last = 0;
    if (!read_header(view, &header) || header.e_phentsize < sizeof segment)
        return false;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        const void *bytes = piece(view, header.e_phoff + (uint64_t)i * header.e_phentsize, sizeof segment);
        if (bytes == NULL)
            return false;
        memcpy(&segment, bytes, sizeof segment);
        if (segment.p_type != PT_LOAD || segment.p_memsz > UINT64_MAX - segment.p_vaddr)
            continue;
        uint64_t low = segment.p_vaddr & ~(PAGE_BYTES - 1), high = segment.p_vaddr + segment.p_memsz;
        *first = low < *first ? low : *first;
        *last = high > *last ? high : *last;
    }
    return *first < *last;
}

bool col_elf_view_lay_out_code(const struct col_elf_view *view, uint64_t *bytes, uint64_t *file_offset)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    *bytes = *file_offset = 0;
    if (!read_header(view, &header))
        return false;
    uint64_t count = section_count(view, &header);
    for (uint64_t i = 0; i < count && read_section(view, &header, i, &section); i++) {
        if (!is_code(&section) || piece(view, section.sh_offset, section.sh_size) == NULL)
            continue;
        uint64_t alignment = section.sh_addralign > 1 ? section.sh_addralign : 1;
        *bytes = (*bytes + alignment - 1) / alignment * alignment + section.sh_size;
        *file_offset = *file_offset == 0 ? section.sh_offset : *file_offset;
    }
    return *bytes != 0;
}

bool col_elf_view_next_code(const struct col_elf_view *view, unsigned *index, uint64_t *start, uint64_t *end)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    if (!read_header(view, &header))
        return false;
    uint64_t count = section_count(view, &header);
    while (*index < count && read_section(view, &header, *index, &section)) {
        ++*index;
        if (!is_code(&section) || section.sh_addr == 0 || section.sh_size > UINT64_MAX - section.sh_addr)
            continue;
        *start = section.sh_addr;
        *end = section.sh_addr + section.sh_size;
        return true;
    }
    return false;
}

static bool is_object(const Elf64_Sym *symbol, uint64_t bytes)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT && symbol->st_shndx != SHN_UNDEF && symbol->st_size == bytes;
}

/* Searches one symbol table. Names are read of objects of that size alone: strings of a large library are 100 MB. */
static uint64_t find_in_table(const struct col_elf_view *view, const Elf64_Shdr *table, const Elf64_Shdr *strings,
                              const char *name, uint64_t bytes)
{
    size_t name_bytes = strlen(name) + 1;
    const char *text = piece(view, strings->sh_offset, strings->sh_size);
    const uint8_t *symbols = piece(view, table->sh_offset, table->sh_size);
    if (text == NULL || symbols == NULL || strings->sh_size < name_bytes)
        return 0;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, symbols + at, sizeof symbol);
        if (is_object(&symbol, bytes) && symbol.st_name <= strings->sh_size - name_bytes &&
            memcmp(text + symbol.st_name, name, name_bytes) == 0)
            return symbol.st_value;
    }
    return 0;
}

uint64_t col_elf_view_find_object(const struct col_elf_view *view, const char *name, uint64_t bytes)
{
    Elf64_Ehdr header;
    Elf64_Shdr table, strings;
    if (!read_header(view, &header))
        return 0;
    uint64_t count = section_count(view, &header), value = 0;
    for (uint64_t i = 0; i < count && value == 0 && read_section(view, &header, i, &table); i++)
        if ((table.sh_type == SHT_SYMTAB || table.sh_type == SHT_DYNSYM) &&
            read_section(view, &header, table.sh_link, &strings))
            value = find_in_table(view, &table, &strings, name, bytes);
    return value;
}
