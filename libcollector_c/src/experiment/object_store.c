/* object_store.c -- copies, in objects/ of the experiment, of code that may be gone when it is read */
#include "experiment/object_store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/os.h"
#include "base/sparse.h"
#include "base/text_format.h"
#include "experiment/log_writer.h"

#define FOLDER "/objects/"
#define LAST_PART_BYTES 200u /* of a name; file systems allow 255 in all */
#define CHUNK_BYTES (256u << 10)
#define YIELDS 100u     /* whoever is at it writes a file: after so many turns they may be waiting for the disk */
#define PATIENCE 20000u /* two seconds of naps */

static struct {
    uint32_t owner; /* atomic: the thread whose the rest is, 0: nobody's */
} self;

static char own_path[PATH_MAX] COL_SPARSE, new_path[PATH_MAX] COL_SPARSE;

static bool enter(void)
{
    uint32_t me = col_os_thread_id();
    for (unsigned turn = 0; turn < PATIENCE; turn++) {
        uint32_t owner = 0;
        if (__atomic_compare_exchange_n(&self.owner, &owner, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
        if (owner == me)
            return false; /* we have interrupted ourselves */
        if (turn < YIELDS)
            col_os_yield();
        else
            col_os_nap();
    }
    return false;
}

static void leave(void)
{
    __atomic_store_n(&self.owner, 0, __ATOMIC_RELEASE);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Makes the folder, and both paths: where the copy will be, and where it is made. */
static int begin_paths(const char *name)
{
    const char *log = col_log_writer_path();
    size_t directory_bytes = (size_t)(last_part(log) - log);
    if (directory_bytes == 0)
        return -EBADF;
    if (directory_bytes + sizeof FOLDER + COL_OBJECT_NAME_BYTES > sizeof own_path)
        return -ENAMETOOLONG;
    memcpy(own_path, log, directory_bytes);
    memcpy(own_path + directory_bytes - 1, FOLDER, sizeof FOLDER);
    int error = col_os_mkdir(own_path, 0700);
    size_t bytes = strlen(own_path), room = sizeof own_path - bytes;
    memcpy(new_path, own_path, bytes);
    col_text_print_into(own_path + bytes, room, "%s", name);
    col_text_print_into(new_path + bytes, room, ".new-%d-%u", (int)col_os_process_id(), (unsigned)col_os_thread_id());
    return error == -EEXIST ? 0 : error;
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t written = col_os_write(fd, bytes, size < CHUNK_BYTES ? size : CHUNK_BYTES);
        if (written <= 0)
            return written < 0 ? (int)written : -ENOSPC;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

static int create(void)
{
    col_os_unlink(new_path);
    return col_os_open(new_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
}

static int finish(int fd, int error)
{
    col_os_close(fd);
    if (error == 0)
        error = col_os_rename(new_path, own_path);
    if (error != 0)
        col_os_unlink(new_path);
    return error;
}

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

static bool is_there(void)
{
    int fd = col_os_open(own_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (fd >= 0)
        col_os_close(fd);
    return fd >= 0;
}

static int keep(const char *name, const void *bytes, size_t size)
{
    int error = begin_paths(name);
    if (error != 0 || is_there())
        return error;
    int fd = create();
    return fd < 0 ? fd : finish(fd, write_all(fd, bytes, size));
}

int col_object_store_keep(const char *path, const void *bytes, size_t size, char *name)
{
    if (size > col_os_file_size_limit())
        return -EFBIG;
    if (!enter())
        return -EBUSY;
    col_text_print_into(name, COL_OBJECT_NAME_BYTES, "%016llx.%.*s", (unsigned long long)hash_of(bytes, size),
                        (int)LAST_PART_BYTES, last_part(path));
    int error = keep(name, bytes, size);
    leave();
    return error;
}

static int copy_all(int from, int to, size_t limit)
{
    char *chunk = col_os_map_memory(CHUNK_BYTES);
    if (chunk == NULL)
        return -ENOMEM;
    ssize_t count = 0;
    int error = 0;
    for (size_t done = 0; error == 0 && done < limit && (count = col_os_read(from, chunk, CHUNK_BYTES)) > 0;
         done += (size_t)count)
        error = write_all(to, chunk, (size_t)count);
    col_os_unmap(chunk, CHUNK_BYTES);
    return error != 0 ? error : count < 0 ? (int)count : 0;
}

static int copy_open(int from, const char *path, uint64_t since_ns, size_t limit)
{
    struct col_os_file file;
    int error = col_os_describe(from, &file);
    if (error != 0)
        return error;
    if (file.owner != col_os_user_id())
        return -EPERM;
    if (file.changed_ns < since_ns)
        return -ESTALE;
    if (file.bytes > limit || file.bytes > col_os_file_size_limit())
        return -EFBIG;
    if (!enter())
        return -EBUSY;
    error = begin_paths(last_part(path));
    int to = error == 0 ? create() : error;
    error = to < 0 ? to : finish(to, copy_all(from, to, file.bytes));
    leave();
    return error;
}

int col_object_store_copy(const char *path, uint64_t since_ns, size_t limit)
{
    int from = col_os_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0);
    if (from < 0)
        return from;
    int error = copy_open(from, path, since_ns, limit);
    col_os_close(from);
    return error;
}

void col_object_store_forget(void)
{
    leave();
}
