/* real.h -- the C library's own functions, behind the ones of the same name that we put in front */
#ifndef COL_BASE_REAL_H
#define COL_BASE_REAL_H

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <threads.h>
#include <unistd.h>

/* Not in the headers of older C libraries, and the old ones are in none. */
int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set);
int pthread_attr_getsigmask_np(const pthread_attr_t *attributes, sigset_t *set);
int epoll_pwait2(int epoll, struct epoll_event *events, int count, const struct timespec *timeout, const sigset_t *set);
ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room);
int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *set, size_t room);
void __longjmp_chk(jmp_buf place, int value) __attribute__((noreturn));
int __cxa_atexit(void (*handler)(void *argument), void *argument, void *library);

/* Every function that entry/ interposes and calls on to, and those of own_libc.c. */
/* clang-format off */
#define COL_REAL_FUNCTIONS(X)                                                                                          \
    X(sigaction) X(signal) X(sigprocmask) X(pthread_sigmask) X(sigtimedwait) X(sigpending) X(signalfd) X(read)         \
    X(sigsuspend) X(ppoll) X(__read_chk) X(__ppoll_chk) X(pselect) X(epoll_pwait) X(epoll_pwait2) X(sigaltstack)       \
    X(pthread_attr_setsigmask_np) X(pthread_attr_getsigmask_np)                                                        \
    X(__sysv_signal) X(sigset) X(sighold) X(sigrelse) X(sigignore) X(siginterrupt)                                     \
    X(siglongjmp) X(longjmp) X(_longjmp) X(__longjmp_chk)                                                              \
    X(mlockall) X(munmap) X(mprotect) X(mremap) X(close) X(dup2) X(dup3) X(close_range) X(closefrom)                   \
    X(execve) X(execv) X(execvp) X(execvpe) X(fexecve) X(execveat) X(posix_spawn) X(posix_spawnp) X(system) X(popen)   \
    X(prctl) X(ptrace) X(syscall) X(clone) X(_Fork) X(_exit) X(_Exit) X(__cxa_atexit) X(on_exit)                       \
    X(pthread_create) X(thrd_create) X(pthread_key_create) X(dlopen) X(dlmopen) X(dlclose)                             \
    X(getauxval) X(sysconf) X(dl_iterate_phdr) X(pthread_once) X(pthread_key_delete) X(pthread_setspecific)            \
    X(pthread_setcancelstate) X(pthread_setcanceltype) X(strtol) X(strtoul) X(strtoull)
/* clang-format on */

enum col_real_index {
#define X(name) COL_REAL_##name,
    COL_REAL_FUNCTIONS(X)
#undef X
        COL_REAL_COUNT
};

/* Looks all of them up, so that later calls are one load: from handlers and vfork children too. */
void col_real_resolve(void);

/* The function itself; looked up on first use if col_real_resolve has not run yet. */
void *col_real_find(enum col_real_index index);

#define COL_REAL(name) ((__typeof__(&name))col_real_find(COL_REAL_##name))

#endif
