/*
 * own_libc.c -- what other headers of the C library declare, for the recorder alone
 *
 * As own_string.c: nothing here leaves the library. A program may have functions of these names, and count their calls or answer what it likes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/os_signal.h"
#include "base/own_environment.h"
#include "base/real.h"
#include "base/safe_read.h"

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

/* ---- system calls ---- */

static long answer(long result)
{
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

pid_t getpid(void)
{
    return col_os_process_id();
}

pid_t getppid(void)
{
    return col_os_parent_id();
}

uid_t getuid(void)
{
    return (uid_t)col_arch_syscall(SYS_getuid, 0, 0, 0, 0, 0, 0);
}

int uname(struct utsname *name)
{
    return (int)answer(col_arch_syscall(SYS_uname, (long)name, 0, 0, 0, 0, 0));
}

int stat(const char *restrict path, struct stat *restrict about)
{
    return (int)answer(col_arch_syscall(SYS_newfstatat, AT_FDCWD, (long)path, (long)about, 0, 0, 0));
}

ssize_t readlink(const char *restrict path, char *restrict text, size_t bytes)
{
    return answer(col_arch_syscall(SYS_readlinkat, AT_FDCWD, (long)path, (long)text, (long)bytes, 0, 0));
}

int faccessat(int directory, const char *path, int mode, int flags)
{
    long result = col_arch_syscall(SYS_faccessat2, directory, (long)path, mode, flags, 0, 0);
    if (result == -ENOSYS) /* before Linux 5.8 */
        result = col_arch_syscall(SYS_faccessat, directory, (long)path, mode, 0, 0, 0);
    return (int)answer(result);
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit)
{
    return (int)answer(col_arch_syscall(SYS_prlimit64, 0, (long)resource, 0, (long)limit, 0, 0));
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
    return (int)answer(col_arch_syscall(SYS_getrusage, (long)who, (long)usage, 0, 0, 0, 0));
}

/* ---- the environment ---- */

static struct {
    bool is_held;
    struct col_proved_pages proved;
} held_environment;

void col_own_environment_begin(void)
{
    held_environment.is_held = true;
}

void col_own_environment_end(void)
{
    memset(&held_environment, 0, sizeof held_environment);
}

static bool has_entry(struct col_proved_pages *proved, char **place)
{
    return place != NULL && col_safe_read_prove(proved, (uintptr_t)place, sizeof *place) && *place != NULL;
}

/* It lies on the stack that the process began on, which a program may have unmapped. An entry that ends before the name would has another. */
char *getenv(const char *name)
{
    struct col_proved_pages own = {.memory = NULL},
                            *proved = held_environment.is_held ? &held_environment.proved : &own;
    size_t length = strlen(name);
    for (char **place = environ; has_entry(proved, place); place++)
        if (col_safe_read_prove(proved, (uintptr_t)*place, length + 1) && **place == *name &&
            strncmp(*place, name, length) == 0 && (*place)[length] == '=')
            return *place + length + 1;
    return NULL;
}

/* ---- sets of signals ---- */

static bool can_be_in_set(int signo)
{
    bool can = signo > 0 && signo <= 64 && signo != 32 && signo != 33; /* which are the C library's own */
    if (!can)
        errno = EINVAL;
    return can;
}

int sigemptyset(sigset_t *set)
{
    memset(set, 0, sizeof *set);
    return 0;
}

int sigaddset(sigset_t *set, int signo)
{
    if (!can_be_in_set(signo))
        return -1;
    *(uint64_t *)(void *)set |= col_os_signal_bit(signo);
    return 0;
}

int sigdelset(sigset_t *set, int signo)
{
    if (!can_be_in_set(signo))
        return -1;
    *(uint64_t *)(void *)set &= ~col_os_signal_bit(signo);
    return 0;
}

int sigismember(const sigset_t *set, int signo)
{
    if (!can_be_in_set(signo))
        return -1;
    return (*(const uint64_t *)(const void *)set & col_os_signal_bit(signo)) != 0;
}

/* ---- what only the C library can answer ---- */

/* It reads the stack that the process began on: a program that has gone on to another may have unmapped or protected that. All are asked for at once, at the start. */
static struct {
    unsigned long kind, value;
} auxiliary[] = {{AT_PHDR, 0},  {AT_PHNUM, 0},  {AT_PAGESZ, 0},      {AT_BASE, 0},
                 {AT_ENTRY, 0}, {AT_HWCAP2, 0}, {AT_MINSIGSTKSZ, 0}, {AT_NULL, 0}};
static bool has_auxiliary;

static void read_auxiliary(void)
{
    for (size_t i = 0; auxiliary[i].kind != AT_NULL; i++)
        auxiliary[i].value = COL_REAL(getauxval)(auxiliary[i].kind);
    __atomic_store_n(&has_auxiliary, true, __ATOMIC_RELEASE);
}

unsigned long getauxval(unsigned long kind)
{
    if (!__atomic_load_n(&has_auxiliary, __ATOMIC_ACQUIRE))
        read_auxiliary();
    for (size_t i = 0; auxiliary[i].kind != AT_NULL; i++)
        if (auxiliary[i].kind == kind)
            return auxiliary[i].value;
    return COL_REAL(getauxval)(kind);
}

long sysconf(int name)
{
    return COL_REAL(sysconf)(name);
}

long strtol(const char *restrict text, char **restrict end, int base)
{
    return COL_REAL(strtol)(text, end, base);
}

unsigned long strtoul(const char *restrict text, char **restrict end, int base)
{
    return COL_REAL(strtoul)(text, end, base);
}

unsigned long long strtoull(const char *restrict text, char **restrict end, int base)
{
    return COL_REAL(strtoull)(text, end, base);
}

int dl_iterate_phdr(int (*meet)(struct dl_phdr_info *, size_t, void *), void *context)
{
    return COL_REAL(dl_iterate_phdr)(meet, context);
}

int pthread_once(pthread_once_t *once, void (*routine)(void))
{
    return COL_REAL(pthread_once)(once, routine);
}

int pthread_key_delete(pthread_key_t key)
{
    return COL_REAL(pthread_key_delete)(key);
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    return COL_REAL(pthread_setspecific)(key, value);
}

int pthread_setcancelstate(int state, int *before)
{
    return COL_REAL(pthread_setcancelstate)(state, before);
}

int pthread_setcanceltype(int type, int *before)
{
    return COL_REAL(pthread_setcanceltype)(type, before);
}
