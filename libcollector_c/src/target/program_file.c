/* program_file.c -- what a file that is about to be run can take in: who loads it, by its first bytes */
#include "target/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arch.h"
#include "base/text_format.h"

#define MOST_SEGMENTS 16   /* no linker writes more of them before the two that matter */
#define MOST_SCRIPTS 5     /* as the kernel */
#define LINE_BYTES 256     /* of a script's first line, as the kernel */
#define HEAD_BYTES 1024    /* linkers put the headers first, and the dynamic linker's path behind them */
#define FIRST_WITH_TEXT 33 /* glibc 2.33: from here on its linker tells its version (ld.so --version) */

static struct {
    struct col_os_identity linker;
    unsigned needed_minor;
} self;

/* A file whose beginning was read, which is enough of most; and if it is an ELF file of our kind, its program headers. */
struct image {
    int fd;
    unsigned count;
    size_t head_bytes;
    const Elf64_Phdr *segments;
    _Alignas(Elf64_Phdr) char head[HEAD_BYTES];
};

void col_program_file_compare_with(const struct col_os_identity *linker, unsigned needed_minor)
{
    self.linker = *linker;
    self.needed_minor = needed_minor;
}

static bool read_whole(int fd, void *data, size_t bytes, uint64_t offset)
{
    return col_os_read_at(fd, data, bytes, offset) == (ssize_t)bytes;
}

static void read_head(struct image *image, int fd)
{
    ssize_t bytes = fd < 0 ? -1 : col_os_read_at(fd, image->head, sizeof image->head - 1, 0);
    image->fd = fd;
    image->head_bytes = bytes > 0 ? (size_t)bytes : 0;
    image->head[image->head_bytes] = '\0';
}

/* False: it is no ELF file of this machine. */
static bool find_segments(struct image *image)
{
    Elf64_Ehdr header;
    if (image->head_bytes < sizeof header)
        return false;
    memcpy(&header, image->head, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != COL_ARCH_MACHINE)
        return false;
    image->count = header.e_phentsize != sizeof *image->segments ? 0
                   : header.e_phnum < MOST_SEGMENTS              ? header.e_phnum
                                                                 : MOST_SEGMENTS;
    size_t bytes = image->count * sizeof *image->segments;
    bool is_in_head = header.e_phoff % _Alignof(Elf64_Phdr) == 0 && header.e_phoff < image->head_bytes &&
                      bytes <= image->head_bytes - header.e_phoff;
    image->segments = (const void *)(image->head + (is_in_head ? header.e_phoff : 0));
    if (!is_in_head) {
        image->head_bytes = 0; /* what was there is written over */
        if (!read_whole(image->fd, image->head, bytes, header.e_phoff))
            image->count = 0;
    }
    return true;
}

static bool read_part(const struct image *image, void *data, size_t bytes, uint64_t offset)
{
    if (offset >= image->head_bytes || bytes > image->head_bytes - offset)
        return read_whole(image->fd, data, bytes, offset);
    memcpy(data, image->head + offset, bytes);
    return true;
}

static const Elf64_Phdr *find_segment(const struct image *image, uint32_t type)
{
    for (unsigned i = 0; i < image->count; i++)
        if (image->segments[i].p_type == type)
            return &image->segments[i];
    return NULL;
}

static uint64_t file_offset_of(const struct image *image, uint64_t address)
{
    for (unsigned i = 0; i < image->count; i++) {
        const Elf64_Phdr *segment = &image->segments[i];
        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr && address - segment->p_vaddr < segment->p_filesz)
            return address - segment->p_vaddr + segment->p_offset;
    }
    return 0;
}

/* What the dynamic section says: 0 for what it does not hold. */
struct dynamic {
    uint64_t strings, name, flags;
};

static struct dynamic read_dynamic(const struct image *image, const Elf64_Phdr *segment)
{
    struct dynamic found = {0, 0, 0};
    Elf64_Dyn entry;
    for (uint64_t at = 0; at + sizeof entry <= segment->p_filesz &&
                          read_whole(image->fd, &entry, sizeof entry, segment->p_offset + at) && entry.d_tag != DT_NULL;
         at += sizeof entry) {
        if (entry.d_tag == DT_STRTAB)
            found.strings = entry.d_un.d_ptr;
        else if (entry.d_tag == DT_SONAME)
            found.name = entry.d_un.d_val;
        else if (entry.d_tag == DT_FLAGS_1)
            found.flags = entry.d_un.d_val;
    }
    return found;
}

/* N of "release version 2.N" in the linker's text; 0 if it does not say. */
static unsigned read_minor(int fd)
{
    static const char mark[] = "release version 2.";
    enum { KEPT = sizeof mark + 4 };
    char text[512];
    uint64_t offset = 0;
    for (ssize_t got; (got = col_os_read_at(fd, text, sizeof text - 1, offset)) > KEPT;
         offset += (uint64_t)got - KEPT) {
        text[got] = '\0';
        const char *found = memmem(text, (size_t)got, mark, sizeof mark - 1);
        if (found == NULL || found + KEPT > text + got)
            continue;
        unsigned minor = 0;
        for (found += sizeof mark - 1; *found >= '0' && *found <= '9'; found++)
            minor = minor * 10 + (unsigned)(*found - '0');
        return minor;
    }
    return 0;
}

static bool has_our_name(const struct image *image, const struct dynamic *dynamic)
{
    char name[sizeof COL_ARCH_LINKER];
    uint64_t strings = file_offset_of(image, dynamic->strings);
    return dynamic->name != 0 && strings != 0 && read_whole(image->fd, name, sizeof name, strings + dynamic->name) &&
           memcmp(name, COL_ARCH_LINKER, sizeof name) == 0;
}

static bool is_own_linker(const struct col_os_identity *file)
{
    return file->inode == self.linker.inode && file->device == self.linker.device;
}

/* A dynamic linker, or a program that needs none: such a one says so, or has nothing to link. */
static enum col_program_kind judge_linker(const struct image *image)
{
    struct col_os_identity file;
    if (col_os_identify(image->fd, &file) == 0 && is_own_linker(&file))
        return COL_PROGRAM_FIT;
    const Elf64_Phdr *segment = find_segment(image, PT_DYNAMIC);
    if (segment == NULL)
        return COL_PROGRAM_FIT;
    struct dynamic dynamic = read_dynamic(image, segment);
    if (has_our_name(image, &dynamic))
        return self.needed_minor < FIRST_WITH_TEXT || read_minor(image->fd) >= self.needed_minor
                   ? COL_PROGRAM_FIT
                   : COL_PROGRAM_OLDER_LIBRARY;
    return (dynamic.flags & DF_1_PIE) != 0 ? COL_PROGRAM_FIT : COL_PROGRAM_OTHER_LIBRARY;
}

static enum col_program_kind judge_linker_at(const char *path)
{
    struct image image;
    struct col_os_identity file;
    if (col_os_identify_path(path, &file) == 0 && is_own_linker(&file)) /* as of nearly all: it need not be opened */
        return COL_PROGRAM_FIT;
    int fd = col_os_open_at(AT_FDCWD, path);
    if (fd < 0) /* it may be run and not read, or is not there and nothing will run */
        return strstr(path, COL_ARCH_LINKER) != NULL ? COL_PROGRAM_FIT : COL_PROGRAM_OTHER_LIBRARY;
    read_head(&image, fd);
    enum col_program_kind kind = find_segments(&image) ? judge_linker(&image) : COL_PROGRAM_OTHER_MACHINE;
    col_os_close(fd);
    return kind;
}

static enum col_program_kind judge_program(struct image *image)
{
    char path[LINE_BYTES];
    if (!find_segments(image))
        return COL_PROGRAM_OTHER_MACHINE;
    const Elf64_Phdr *segment = find_segment(image, PT_INTERP);
    if (segment == NULL)
        return judge_linker(image);
    size_t bytes = segment->p_filesz < sizeof path - 1 ? segment->p_filesz : sizeof path - 1;
    if (!read_part(image, path, bytes, segment->p_offset))
        return COL_PROGRAM_FIT;
    path[bytes] = '\0';
    return judge_linker_at(path);
}

/* Leaves the interpreter of "#! interpreter argument" in `line`; false if the kernel would find none. */
static bool take_interpreter(char *line)
{
    char *from = line + 2 + strspn(line + 2, " \t");
    size_t length = strcspn(from, " \t\n");
    memmove(line, from, length);
    line[length] = '\0';
    return length != 0;
}

static bool is_text(const char *line, size_t bytes)
{
    return bytes > 0 && memchr(line, '\0', strcspn(line, "\n") + 1) == NULL;
}

/* Opens what is run; an empty path stands for the file `directory` itself. */
static int open_program(int directory, const char *path)
{
    char own[32];
    struct col_os_identity file;
    if (path[0] == '\0') {
        col_text_print_into(own, sizeof own, "/proc/self/fd/%d", directory);
        path = own;
    }
    int fd = col_os_open_at(directory, path);
    if (fd >= 0 && (col_os_identify(fd, &file) != 0 || !file.is_regular)) {
        col_os_close(fd);
        return -1;
    }
    return fd;
}

enum col_program_kind col_program_file_kind(int directory, const char *path, bool has_shell)
{
    struct image image;
    for (unsigned i = 0; i <= MOST_SCRIPTS; i++) {
        read_head(&image, open_program(directory, path));
        char *line = image.head;
        bool is_elf = image.head_bytes >= SELFMAG && memcmp(line, ELFMAG, SELFMAG) == 0,
             is_script = line[0] == '#' && line[1] == '!';
        enum col_program_kind kind = is_elf ? judge_program(&image) : COL_PROGRAM_FIT;
        if (image.fd >= 0)
            col_os_close(image.fd);
        line[LINE_BYTES - 1] = '\0';
        if (!is_elf && !is_script && has_shell && is_text(line, image.head_bytes))
            memcpy(line, "/bin/sh", sizeof "/bin/sh");
        else if (!is_script || !take_interpreter(line))
            return kind;
        directory = AT_FDCWD;
        path = line;
        has_shell = false;
    }
    return COL_PROGRAM_FIT;
}
