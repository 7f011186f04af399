/* sparse_file.c -- a file that is written through memory, window by window */
#include "experiment/sparse_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>

#include "base/os.h"
#include "base/safe_read.h"
#include "experiment/format.h"

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

static struct {
    bool keeps_room; /* the file system of the file made last */
    struct col_os_identity identity;
} self;

/* These keep a page's room once it has it. Copy-on-write file systems look for new room after each writeback, and others do not say. */
static bool keeps_room(uint64_t file_system)
{
    return file_system == EXT4_SUPER_MAGIC || file_system == XFS_SUPER_MAGIC || file_system == TMPFS_MAGIC;
}

static int stretch(int fd, uint64_t bytes, uint64_t *got)
{
    uint64_t limit = col_os_file_size_limit();
    if (bytes > limit)
        bytes = limit;
    int error = -EFBIG;
    for (; bytes >= 2 * COL_OPEN_SLOT_BYTES; bytes /= 2) {
        bytes -= bytes % COL_OPEN_SLOT_BYTES;
        error = col_os_ftruncate(fd, bytes);
        if (error == 0) {
            *got = bytes;
            return 0;
        }
    }
    return error;
}

/* The window of open frames, beside the first of the log so that both are advised together. A second mapping keeps the first one's advice (checked in smaps), so windows are advised once. */
static int map_open_window(struct col_sparse_file *file, int fd)
{
    file->open_first = file->first + COL_SPARSE_WINDOW_BYTES;
    int error = col_os_map_part(fd, file->bytes, file->open_first, COL_SPARSE_WINDOW_BYTES);
    if (error != 0)
        return error;
    col_os_advise(file->first, 2 * COL_SPARSE_WINDOW_BYTES, MADV_DONTFORK);
    col_os_advise(file->first, 2 * COL_SPARSE_WINDOW_BYTES, MADV_DONTDUMP);
    col_os_advise(file->first, 2 * COL_SPARSE_WINDOW_BYTES,
                  MADV_RANDOM); /* or each fault reads ahead in the hole, most of a millisecond on ext4 */
    return 0;
}

/* Mapped before it has a length: a log with a length that nobody has mapped is that of a killed process, which others cut (recorded_processes.py). */
static int stretch_and_map(struct col_sparse_file *file, int fd, uint64_t bytes)
{
    file->first = col_os_map_file(fd, 2 * COL_SPARSE_WINDOW_BYTES);
    if (file->first == NULL)
        return -ENOMEM;
    uint64_t whole_bytes;
    int error = stretch(fd, bytes, &whole_bytes);
    if (error == 0) {
        file->open_bytes = COL_OPEN_AREA_BYTES(whole_bytes);
        file->bytes = whole_bytes - file->open_bytes;
        error = map_open_window(file, fd);
    }
    if (error != 0)
        col_os_unmap(file->first, 2 * COL_SPARSE_WINDOW_BYTES);
    return error;
}

int col_sparse_file_create(struct col_sparse_file *file, const char *path, uint64_t bytes)
{
    int fd = col_os_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    if (fd < 0)
        return fd;
    col_os_identify(fd, &self.identity);
    self.keeps_room = keeps_room(col_os_file_system(fd));
    int error = stretch_and_map(file, fd, bytes);
    col_os_close(fd);
    if (error != 0)
        col_os_unlink(path);
    return error;
}

uint8_t *col_sparse_file_next(uint8_t *window)
{
    return col_os_map_following(window, COL_SPARSE_WINDOW_BYTES);
}

void col_sparse_file_drop(uint8_t *window)
{
    col_os_unmap(window, COL_SPARSE_WINDOW_BYTES);
}

void col_sparse_file_cut(const char *path, uint64_t bytes)
{
    struct col_os_identity now;
    if (col_os_identify_path(path, &now) == 0 && now.device == self.identity.device &&
        now.inode == self.identity.inode && now.bytes > bytes)
        col_os_truncate(path, bytes);
}

bool col_sparse_file_keeps_room(void)
{
    return self.keeps_room;
}

int col_sparse_file_renew(const void *start, size_t bytes)
{
    if (!self.keeps_room)
        return col_os_populate((void *)start, bytes);
    return col_safe_read_probe((uintptr_t)start + bytes - 1) ? 0 : -ENOSPC; /* a file is cut from its end */
}
