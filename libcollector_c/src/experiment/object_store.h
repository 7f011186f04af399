/* object_store.h -- copies, in objects/ of the experiment, of code that may be gone when it is read */
#ifndef COL_EXPERIMENT_OBJECT_STORE_H
#define COL_EXPERIMENT_OBJECT_STORE_H

#include <stddef.h>
#include <stdint.h>

#define COL_OBJECT_NAME_BYTES 224

/*
 * From anywhere, signal handlers included. One caller at a time: another thread that comes while a copy is being made waits for a moment, a handler of the same thread not at all.
 * A copy appears whole, by a rename, or not at all. Answers are 0 or -errno; -EBUSY: somebody is at it.
 */

/*
 * Keeps bytes under a name made of their hash and the last part of `path`, so that what is kept many times, by many processes, is there once.
 * `name` (COL_OBJECT_NAME_BYTES) gets that name.
 */
int col_object_store_keep(const char *path, const void *bytes, size_t size, char *name);

/*
 * Copies a file of ours under the last part of its path, over an older copy. Not if it belongs to somebody else (-EPERM), was last changed before `since_ns`
 * of CLOCK_REALTIME (-ESTALE), or has more than `limit` bytes (-EFBIG).
 */
int col_object_store_copy(const char *path, uint64_t since_ns, size_t limit);

/* In a fork child: a copy that another thread had begun will not be finished. */
void col_object_store_forget(void);

#endif
