/* mapping_lines.h -- the lines of /proc/PID/maps, one after the other */
#ifndef COL_TARGET_MAPPING_LINES_H
#define COL_TARGET_MAPPING_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CALLABLE FROM ANYWHERE, signal handlers included. */

struct col_mapping {
    uintptr_t low, high;
    uint64_t file_offset;
    bool is_readable, is_executable, has_file;
};

struct col_mapping_lines {
    int fd;
    bool failed; /* the file ended within a line, or could not be read */
    char *chunk;
    size_t room, at, count;
    char *path; /* where the path of each line goes, or its beginning; NULL: nowhere */
    size_t path_room;
};

/* Opens the file, which is read by `room` bytes at a time into `chunk`. False if it cannot be opened. */
bool col_mapping_lines_open(struct col_mapping_lines *lines, const char *path, char *chunk, size_t room);

/* False when there are no more. */
bool col_mapping_lines_next(struct col_mapping_lines *lines, struct col_mapping *mapping);

/* False if not all lines were read. */
bool col_mapping_lines_close(struct col_mapping_lines *lines);

#endif
