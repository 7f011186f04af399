/* mapped_object.c -- maps an object file by hand (sections | file | image), removes it, runs its parts one, two and three times as long; prints the CPU time of each */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libcollector.h"
#include "made_code.h"

static unsigned char *file;
static size_t file_bytes;

static const Elf64_Shdr *section(unsigned index)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
    return (const Elf64_Shdr *)(file + header->e_shoff) + index;
}

static unsigned section_count(void)
{
    return ((const Elf64_Ehdr *)file)->e_shnum;
}

static void read_file(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &about) != 0)
        exit(1);
    file_bytes = (size_t)about.st_size;
    file = malloc(file_bytes);
    if (read(fd, file, file_bytes) != about.st_size)
        exit(1);
    close(fd);
}

/* Where each section was put. */
static char *places[256];

static void put_sections(char *room)
{
    size_t at = 0;
    for (unsigned i = 0; i < section_count(); i++) {
        const Elf64_Shdr *one = section(i);
        if (!(one->sh_flags & SHF_EXECINSTR) || one->sh_size == 0)
            continue;
        size_t alignment = one->sh_addralign > 1 ? one->sh_addralign : 1;
        at = (at + alignment - 1) / alignment * alignment;
        places[i] = memcpy(room + at, file + one->sh_offset, one->sh_size);
        at += one->sh_size;
    }
}

static void put_file(char *room)
{
    memcpy(room, file, file_bytes);
    for (unsigned i = 0; i < section_count(); i++)
        places[i] = room + section(i)->sh_offset;
}

/* By its segments; values of symbols count from the image's beginning. */
static void put_image(char *room)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
    const Elf64_Phdr *segments = (const Elf64_Phdr *)(file + header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD)
            memcpy(room + segments[i].p_vaddr, file + segments[i].p_offset, segments[i].p_filesz);
    for (unsigned i = 0; i < section_count(); i++)
        places[i] = room;
}

static const void *find(const char *name)
{
    for (unsigned i = 0; i < section_count(); i++) {
        const Elf64_Shdr *table = section(i);
        if (table->sh_type != SHT_SYMTAB)
            continue;
        const char *names = (const char *)file + section(table->sh_link)->sh_offset;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(file + table->sh_offset);
        for (size_t j = 0; j < table->sh_size / sizeof *symbols; j++)
            if (strcmp(names + symbols[j].st_name, name) == 0)
                return places[symbols[j].st_shndx] + symbols[j].st_value;
    }
    exit(1);
}

int main(int argc, char **argv)
{
    char *room = make_room(1 << 20);
    if (argc < 4 || room == NULL)
        return 1;
    int64_t ms = atoi(argv[3]), unnamed;
    read_file(argv[1]);
    if (strcmp(argv[2], "sections") == 0)
        put_sections(room);
    else if (strcmp(argv[2], "file") == 0)
        put_file(room);
    else
        put_image(room);
    __builtin___clear_cache(room, room + (1 << 20));
    collector_module_load(argv[1], room);
    unlink(argv[1]);
    printf("part_one %ld\n", (long)run_code(find("part_one"), ms));
    printf("part_two %ld\n", (long)run_code(find("part_two"), 2 * ms));
    printf("part_three %ld\n", (long)run_code(find("part_three"), 3 * ms));
    collector_module_unload(room);
    unnamed = run_code(find("part_one"), ms);
    printf("unnamed %ld\n", (long)unnamed);
    return 0;
}
