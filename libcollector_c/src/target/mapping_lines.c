/* mapping_lines.c -- the lines of /proc/PID/maps, one after the other */
#include "target/mapping_lines.h"

#include <fcntl.h>

#include "base/os.h"

enum { AT_END = -1 };

bool col_mapping_lines_open(struct col_mapping_lines *lines, const char *path, char *chunk, size_t room)
{
    *lines = (struct col_mapping_lines){.fd = col_os_open(path, O_RDONLY, 0), .chunk = chunk, .room = room};
    return lines->fd >= 0;
}

static bool read_chunk(struct col_mapping_lines *lines)
{
    ssize_t count = col_os_read(lines->fd, lines->chunk, lines->room);
    lines->failed |= count < 0;
    lines->at = 0;
    lines->count = count > 0 ? (size_t)count : 0;
    return count > 0;
}

static int next_character(struct col_mapping_lines *lines)
{
    bool is_there = lines->at < lines->count || read_chunk(lines);
    return is_there ? (unsigned char)lines->chunk[lines->at++] : AT_END;
}

/* A hexadecimal number and the character behind it, which is `last` if all is well. */
static uintptr_t next_number(struct col_mapping_lines *lines, int last)
{
    uintptr_t number = 0;
    int c;
    while ((c = next_character(lines)) != last && c > ' ')
        number = number << 4 | ((unsigned)(c <= '9' ? c - '0' : c - 'a' + 10) & 0xf);
    lines->failed |= c != last;
    return number;
}

/* Behind the blanks that come first. */
static int next_path(struct col_mapping_lines *lines, int c)
{
    size_t length = 0;
    while (c == ' ')
        c = next_character(lines);
    for (; c != '\n' && c != AT_END; c = next_character(lines))
        if (lines->path != NULL && length + 1 < lines->path_room)
            lines->path[length++] = (char)c;
    if (lines->path != NULL)
        lines->path[length] = '\0';
    return c;
}

/* "low-high rwxp offset device inode path": no character is looked at twice. */
bool col_mapping_lines_next(struct col_mapping_lines *lines, struct col_mapping *mapping)
{
    int c;
    if (lines->failed || (lines->at == lines->count && !read_chunk(lines)))
        return false;
    mapping->low = next_number(lines, '-');
    mapping->high = next_number(lines, ' ');
    mapping->is_readable = next_character(lines) == 'r';
    next_character(lines);
    mapping->is_executable = next_character(lines) == 'x';
    next_character(lines);
    next_character(lines);
    mapping->file_offset = next_number(lines, ' ');
    while ((c = next_character(lines)) > ' ') /* the device */
        continue;
    mapping->has_file = false;
    while ((c = next_character(lines)) > ' ')
        mapping->has_file |= c != '0';
    c = next_path(lines, c);
    lines->failed |= c == AT_END;
    return !lines->failed;
}

bool col_mapping_lines_close(struct col_mapping_lines *lines)
{
    col_os_close(lines->fd);
    return !lines->failed;
}
