/* real.h -- the C library's own functions, behind the ones of the same name that we put in front */
#ifndef COL_BASE_REAL_H
#define COL_BASE_REAL_H

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/types.h>
#include <threads.h>
#include <unistd.h>

/* Every function that entry/ interposes and calls on to. */
#define COL_REAL_FUNCTIONS(X)                                                                                          \
    X(sigaction) X(signal) X(sigprocmask) X(pthread_sigmask) X(sigtimedwait) X(sigpending) X(signalfd)     \
    X(close) X(dup2) X(dup3) X(close_range) X(closefrom)                                                               \
    X(execve) X(execv) X(execvp) X(execvpe) X(fexecve) X(execveat) X(posix_spawn) X(posix_spawnp)                      \
    X(syscall) X(clone) X(_Fork) X(_exit) X(_Exit) X(quick_exit)                                                                         \
    X(pthread_create) X(thrd_create) X(dlopen) X(dlmopen) X(dlclose)

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
