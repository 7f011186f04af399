/* os.h -- the system calls we make ourselves: libc's names may be hooked, by us or by others */
#ifndef COL_BASE_OS_H
#define COL_BASE_OS_H

#include <features.h>
#if !defined(__GLIBC__) || 1000 * __GLIBC__ + __GLIBC_MINOR__ < 2034
#error "libcollector needs glibc 2.34 or later, as Debian 12, Ubuntu 22.04 and RHEL 9 have it"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * From anywhere, signal handlers and fork children included: nothing here uses libc, sets errno, takes a lock or keeps state,
 * but for the count of bytes that were read and written (own_io.h).
 * What can fail answers -errno.
 */

/* Files. Calls that were interrupted are made again. */
int col_os_open(const char *path, int flags, mode_t mode); /* O_CLOEXEC is added */
int col_os_close(int fd);
ssize_t col_os_read(int fd, void *data, size_t bytes);
ssize_t col_os_write(int fd, const void *data, size_t bytes);
int col_os_rename(const char *from, const char *to);

/* What an open file is. -EINVAL if it is no regular one. */
struct col_os_file {
    uint64_t bytes;
    uint64_t changed_ns; /* CLOCK_REALTIME, of its contents */
    uid_t owner;
};
int col_os_describe(int fd, struct col_os_file *file);
int col_os_describe_path(const char *path, struct col_os_file *file); /* of what it leads to */
int col_os_mkdir(const char *path, mode_t mode);
int col_os_chmod(const char *path, mode_t mode);

/* The same for files that are only looked at: `directory` as of openat(2), paths as the kernel would take them for this process now. */
int col_os_open_at(int directory, const char *path);
ssize_t col_os_read_at(int fd, void *data, size_t bytes, uint64_t offset);

/* Which file it is, whatever kind it has, and how long. */
struct col_os_identity {
    uint64_t device, inode, bytes;
    bool is_regular;
};
int col_os_identify(int fd, struct col_os_identity *identity);
int col_os_identify_path(const char *path, struct col_os_identity *identity);

/* access(2) by the effective user and group; 0 where an old kernel cannot say. */
int col_os_access(int directory, const char *path, int mode);
ssize_t col_os_read_link(const char *path, char *text, size_t bytes); /* no final zero */
int col_os_unlink(const char *path);
int col_os_truncate(const char *path, uint64_t bytes);
int col_os_ftruncate(int fd, uint64_t bytes);
ssize_t col_os_working_directory(char *path, size_t bytes); /* length without the final zero */
uint64_t col_os_file_size_limit(void);                      /* RLIMIT_FSIZE; beyond it SIGXFSZ waits */
uint64_t col_os_raise_descriptor_limit(
    void); /* RLIMIT_NOFILE: the soft limit up to the hard one; gives what it was, 0 if it stays */
void col_os_restore_descriptor_limit(uint64_t soft); /* what the call above gave */
uint64_t col_os_file_system(int fd);                 /* statfs's f_type, 0 if unknown */

/* Memory. The maps answer NULL when there is none. */
void *col_os_map_memory(size_t bytes);       /* private, zero */
void *col_os_map_file(int fd, size_t bytes); /* shared, from the file's beginning */
int col_os_map_part(int fd, uint64_t offset, void *start,
                    size_t bytes); /* shared, in place of what is mapped at `start`; 0 or -errno */
void col_os_unlock_from_now(
    bool is_wanted); /* what is mapped from now on is not to count as the program's locked memory */
int col_os_map_memory_at(void *start, size_t bytes); /* private, zero, in place of what is mapped there; 0 or -errno */
void *col_os_map_to_read(int fd, size_t bytes);      /* private, only to be read */
void col_os_unmap(void *start, size_t bytes);
int col_os_advise(void *start, size_t bytes, int advice);
size_t col_os_page_bytes(void);

/* Maps what follows a shared mapping's `bytes` in its file, as much again: no descriptor is needed. */
void *col_os_map_following(void *start, size_t bytes);

/*
 * Makes the pages of a shared file mapping writable, with room on the disk: what is stored there afterwards cannot raise SIGBUS. Their bytes do not change.
 * -ENOSPC when the disk is full, or the file ends before.
 */
int col_os_populate(void *start, size_t bytes);

/* Threads and processes. */
pid_t col_os_process_id(void);
pid_t col_os_parent_id(void);
uid_t col_os_user_id(void); /* the effective one */
uint32_t col_os_thread_id(void);
void col_os_yield(void);
void col_os_nap(void); /* a tenth of a millisecond */

/*
 * Blocks all signals of this thread but those that its own instructions raise; restore gives back what was blocked before. The C library leaves two of its own
 * out of any set: one of them cancels threads, by unwinding whatever they are in. A program that steps through itself does not step in between.
 */
struct col_os_signals {
    uint64_t blocked;
    bool was_stepping;
};

struct col_os_signals col_os_block_signals(void);
void col_os_restore_signals(struct col_os_signals before);

/* True if this system call, with this first argument, makes a process with memory of its own. */
bool col_os_is_fork(long number, long argument);

/* True if it makes one without handlers of signals. */
bool col_os_is_fork_without_handlers(long number, long argument);

/* The name of one of this process's threads; empty when it is gone. `name` holds 16 bytes. */
void col_os_thread_name(uint32_t thread, char *name, size_t bytes);

#endif
