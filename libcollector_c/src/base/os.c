/* os.c -- the system calls we make ourselves */

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>

#include "base/arch.h"
#include "base/own_io.h"
#include "base/safe_read.h"

#ifndef SYS_clone3
#define SYS_clone3 435 /* Linux 5.3 */
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439 /* Linux 5.8 */
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static long call(long number, long a, long b, long c, long d)
{
    long answer;
    do
        answer = col_arch_syscall(number, a, b, c, d, 0, 0);
    while (answer == -EINTR);
    return answer;
}

int col_os_open(const char *path, int flags, mode_t mode)
{
    return (int)call(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, (long)mode);
}

int col_os_close(int fd)
{
    return (int)col_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0); /* once: it is closed even if interrupted */
}

ssize_t col_os_read(int fd, void *data, size_t bytes)
{
    return col_own_io_count_read(call(SYS_read, fd, (long)data, (long)bytes, 0));
}

ssize_t col_os_write(int fd, const void *data, size_t bytes)
{
    return col_own_io_count_write(call(SYS_write, fd, (long)data, (long)bytes, 0));
}

int col_os_rename(const char *from, const char *to)
{
    return (int)call(SYS_renameat, AT_FDCWD, (long)from, AT_FDCWD, (long)to);
}

static int describe(long error, const struct stat *about, struct col_os_file *file)
{
    if (error != 0)
        return (int)error;
    *file = (struct col_os_file){(uint64_t)about->st_size,
                                 (uint64_t)about->st_mtim.tv_sec * 1000000000u + (uint64_t)about->st_mtim.tv_nsec,
                                 about->st_uid};
    return S_ISREG(about->st_mode) ? 0 : -EINVAL;
}

int col_os_describe(int fd, struct col_os_file *file)
{
    struct stat about;
    return describe(call(SYS_fstat, fd, (long)&about, 0, 0), &about, file);
}

int col_os_describe_path(const char *path, struct col_os_file *file)
{
    struct stat about;
    return describe(call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&about, 0), &about, file);
}

int col_os_open_at(int directory, const char *path)
{
    return (int)call(SYS_openat, directory, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

ssize_t col_os_read_at(int fd, void *data, size_t bytes, uint64_t offset)
{
    return col_own_io_count_read(call(SYS_pread64, fd, (long)data, (long)bytes, (long)offset));
}

int col_os_identify(int fd, struct col_os_identity *identity)
{
    struct stat about;
    long error = call(SYS_fstat, fd, (long)&about, 0, 0);
    if (error == 0)
        *identity =
            (struct col_os_identity){about.st_dev, about.st_ino, (uint64_t)about.st_size, S_ISREG(about.st_mode)};
    return (int)error;
}

int col_os_identify_path(const char *path, struct col_os_identity *identity)
{
    struct stat about;
    long error = call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&about, 0);
    if (error == 0)
        *identity =
            (struct col_os_identity){about.st_dev, about.st_ino, (uint64_t)about.st_size, S_ISREG(about.st_mode)};
    return (int)error;
}

ssize_t col_os_read_link(const char *path, char *text, size_t bytes)
{
    return call(SYS_readlinkat, AT_FDCWD, (long)path, (long)text, (long)bytes);
}

static bool has_real_ids_only(void)
{
    return call(SYS_geteuid, 0, 0, 0, 0) == call(SYS_getuid, 0, 0, 0, 0) &&
           call(SYS_getegid, 0, 0, 0, 0) == call(SYS_getgid, 0, 0, 0, 0);
}

int col_os_access(int directory, const char *path, int mode)
{
    if (has_real_ids_only()) /* then no newer system call is needed, which a sandbox may refuse */
        return (int)call(SYS_faccessat, directory, (long)path, mode, 0);
    long error = call(SYS_faccessat2, directory, (long)path, mode, AT_EACCESS);
    return error == -ENOSYS || error == -EPERM ? 0 : (int)error;
}

int col_os_mkdir(const char *path, mode_t mode)
{
    return (int)call(SYS_mkdirat, AT_FDCWD, (long)path, (long)mode, 0);
}

int col_os_chmod(const char *path, mode_t mode)
{
    return (int)call(SYS_fchmodat, AT_FDCWD, (long)path, (long)mode, 0);
}

int col_os_unlink(const char *path)
{
    return (int)call(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0);
}

int col_os_truncate(const char *path, uint64_t bytes)
{
    return (int)call(SYS_truncate, (long)path, (long)bytes, 0, 0);
}

int col_os_ftruncate(int fd, uint64_t bytes)
{
    return (int)call(SYS_ftruncate, fd, (long)bytes, 0, 0);
}

ssize_t col_os_working_directory(char *path, size_t bytes)
{
    long length = call(SYS_getcwd, (long)path, (long)bytes, 0, 0);
    return length > 0 ? length - 1 : length;
}

uint64_t col_os_file_size_limit(void)
{
    struct rlimit limit;
    long error = call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit);
    return error == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

uint64_t col_os_raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit) != 0 || limit.rlim_cur >= limit.rlim_max)
        return 0;
    struct rlimit raised = {limit.rlim_max, limit.rlim_max};
    return call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&raised, 0) == 0 ? limit.rlim_cur : 0;
}

void col_os_restore_descriptor_limit(uint64_t soft)
{
    struct rlimit limit;
    if (soft == 0 || call(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit) != 0)
        return;
    limit.rlim_cur = soft;
    call(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&limit, 0);
}

uint64_t col_os_file_system(int fd)
{
    struct statfs about;
    return call(SYS_fstatfs, fd, (long)&about, 0, 0) == 0 ? (uint64_t)about.f_type : 0;
}

static void *pointer_or_null(long answer)
{
    return answer < 0 && answer > -4096 ? NULL : (void *)answer;
}

static bool is_unlocking;

void col_os_unlock_from_now(bool is_wanted)
{
    __atomic_store_n(&is_unlocking, is_wanted, __ATOMIC_RELAXED);
}

static long map(void *start, size_t bytes, int flags, int fd, uint64_t offset)
{
    long answer = col_arch_syscall(SYS_mmap, (long)start, (long)bytes, PROT_READ | PROT_WRITE, flags, fd, (long)offset);
    if (__atomic_load_n(&is_unlocking, __ATOMIC_RELAXED) && pointer_or_null(answer) != NULL)
        col_arch_syscall(SYS_munlock, answer, (long)bytes, 0, 0, 0, 0);
    return answer;
}

void *col_os_map_memory(size_t bytes)
{
    return pointer_or_null(map(NULL, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

void *col_os_map_file(int fd, size_t bytes)
{
    return pointer_or_null(map(NULL, bytes, MAP_SHARED, fd, 0));
}

static int map_over(void *start, size_t bytes, int flags, int fd, uint64_t offset)
{
    long answer = map(start, bytes, MAP_FIXED | flags, fd, offset);
    return answer == (long)start ? 0 : (int)answer;
}

int col_os_map_part(int fd, uint64_t offset, void *start, size_t bytes)
{
    return map_over(start, bytes, MAP_SHARED, fd, offset);
}

int col_os_map_memory_at(void *start, size_t bytes)
{
    return map_over(start, bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void *col_os_map_to_read(int fd, size_t bytes)
{
    return pointer_or_null(col_arch_syscall(SYS_mmap, 0, (long)bytes, PROT_READ, MAP_PRIVATE, fd, 0));
}

void col_os_unmap(void *start, size_t bytes)
{
    col_arch_syscall(SYS_munmap, (long)start, (long)bytes, 0, 0, 0, 0);
}

int col_os_advise(void *start, size_t bytes, int advice)
{
    return (int)call(SYS_madvise, (long)start, (long)bytes, advice, 0);
}

size_t col_os_page_bytes(void)
{
    return getauxval(AT_PAGESZ);
}

void *col_os_map_following(void *start, size_t bytes)
{
    /* An old size of 0 makes a second mapping of the same pages (mremap(2)), here twice as long; its first half is not wanted. */
    char *both = pointer_or_null(col_arch_syscall(SYS_mremap, (long)start, 0, (long)(2 * bytes), MREMAP_MAYMOVE, 0, 0));
    if (both == NULL)
        return NULL;
    col_os_unmap(both, bytes);
    return both + bytes;
}

/* Before Linux 5.14: the futex call or's 0 to a word of each page for us, and answers EFAULT where a store of ours would raise SIGBUS. */
static int populate_by_futex(char *start, size_t bytes)
{
    size_t page_bytes = col_os_page_bytes();
    for (char *word = start; word < start + bytes; word += page_bytes) {
        long woken = col_arch_syscall(SYS_futex, (long)word, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, 0, (long)word,
                                      FUTEX_OP(FUTEX_OP_OR, 0, FUTEX_OP_CMP_EQ, 0));
        if (woken < 0)
            return woken == -EFAULT ? -ENOSPC : (int)woken;
    }
    return 0;
}

int col_os_populate(void *start, size_t bytes)
{
    uintptr_t page = (uintptr_t)start & ~(uintptr_t)(col_os_page_bytes() - 1);
    size_t length = (uintptr_t)start + bytes - page;
    int error = col_os_advise((void *)page, length, MADV_POPULATE_WRITE);
    if (error == -EINVAL)
        return populate_by_futex((char *)page, length);
    return error == -EFAULT ? -ENOSPC : error;
}

pid_t col_os_process_id(void)
{
    return (pid_t)col_arch_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

pid_t col_os_parent_id(void)
{
    return (pid_t)col_arch_syscall(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

uid_t col_os_user_id(void)
{
    return (uid_t)col_arch_syscall(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

uint32_t col_os_thread_id(void)
{
    return (uint32_t)col_arch_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

void col_os_yield(void)
{
    col_arch_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

void col_os_nap(void)
{
    struct timespec nap = {0, 100000};
    call(SYS_nanosleep, (long)&nap, 0, 0, 0);
}

static uint64_t bit_of(int signo)
{
    return (uint64_t)1 << (signo - 1);
}

struct col_os_signals col_os_block_signals(void)
{
    struct col_os_signals before = {.was_stepping = col_arch_stop_stepping()};
    uint64_t raised =
                 bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGILL) | bit_of(SIGFPE) | bit_of(SIGTRAP) | bit_of(SIGSYS),
             others = ~raised;
    call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&others, (long)&before.blocked, sizeof before.blocked);
    return before;
}

void col_os_restore_signals(struct col_os_signals before)
{
    call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before.blocked, 0, sizeof before.blocked);
    col_arch_step_again(before.was_stepping);
}

static char *put_decimal(char *end, uint32_t number)
{
    char digits[10];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    while (count > 0)
        *end++ = digits[--count];
    return end;
}

static void read_thread_name(uint32_t thread, char *name, size_t bytes)
{
    char path[48] = "/proc/self/task/";
    memcpy(put_decimal(path + strlen(path), thread), "/comm", sizeof "/comm");
    int fd = col_os_open(path, O_RDONLY, 0);
    ssize_t length = 0;
    if (fd >= 0) {
        length = col_os_read(fd, name, bytes - 1);
        col_os_close(fd);
    }
    if (length > 0 && name[length - 1] == '\n')
        length--;
    name[length > 0 ? length : 0] = '\0';
}

void col_os_thread_name(uint32_t thread, char *name, size_t bytes)
{
    if (bytes >= 16 && thread == col_os_thread_id())
        call(SYS_prctl, PR_GET_NAME, (long)name, 0, 0); /* a hundredth of the cost of the file */
    else
        read_thread_name(thread, name, bytes);
}

#ifndef CLONE_CLEAR_SIGHAND
#define CLONE_CLEAR_SIGHAND 0x100000000
#endif

/* clone3's first argument is a structure that begins with the flags. */
static bool is_fork_by_clone3(long arguments, uintptr_t needed)
{
    uintptr_t flags;
    return col_safe_read_word((uintptr_t)arguments, &flags) && (flags & (CLONE_VM | needed)) == needed;
}

bool col_os_is_fork_without_handlers(long number, long argument)
{
    return number == SYS_clone3 && is_fork_by_clone3(argument, CLONE_CLEAR_SIGHAND);
}

bool col_os_is_fork(long number, long argument)
{
    if (number == SYS_clone3)
        return is_fork_by_clone3(argument, 0);
#ifdef SYS_fork
    if (number == SYS_fork)
        return true;
#endif
    return number == SYS_clone && (argument & CLONE_VM) == 0;
}
