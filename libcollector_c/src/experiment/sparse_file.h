/* sparse_file.h -- a file that is written through memory, window by window, and needs no descriptor */
#ifndef COL_EXPERIMENT_SPARSE_FILE_H
#define COL_EXPERIMENT_SPARSE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The file is made as long as it may ever become; only pages that were populated take room on the disk. Its first window is mapped, its descriptor
 * closed at once: the program may close or reuse any number. Each later window is mapped from the one before it.
 * Windows are shared with the kernel, so what was stored survives any death of the process. They are not inherited by fork, nor dumped.
 */
#define COL_SPARSE_WINDOW_BYTES ((size_t)4 << 20)

struct col_sparse_file {
    uint8_t *first;      /* the first window */
    uint8_t *open_first; /* the first window of the part for open frames (docs/format.md): the end of the file */
    uint64_t bytes;      /* length of the file up to there */
    uint64_t open_bytes; /* length of that part */
};

/* Makes the file, `bytes` long in all or as long as the system allows. It must not exist: -EEXIST. Opens a descriptor for a moment. Not for signal handlers. */
int col_sparse_file_create(struct col_sparse_file *file, const char *path, uint64_t bytes);

/* Shortens the file that was made last, if it still has that name: another file of the name, or in another root, is not touched, and none is made longer. */
void col_sparse_file_cut(const char *path, uint64_t bytes);

/* From anywhere, signal handlers included. */
uint8_t *col_sparse_file_next(uint8_t *window); /* the window after this one; NULL: no memory */
void col_sparse_file_drop(uint8_t *window);     /* unmaps a window */

/*
 * Makes sure that bytes whose pages were populated before may be touched again: the file system may want new room for a page that it has written back, and
 * somebody may have cut the file. Nothing in the file before them is missing either. 0 or -errno.
 */
int col_sparse_file_renew(const void *start, size_t bytes);
bool col_sparse_file_keeps_room(void); /* what was populated once may be stored to again, unless the file was cut */

#endif
