/* recorder_calls.h -- the system calls that the recorder makes, as a seccomp filter will judge them */
#ifndef COL_TARGET_RECORDER_CALLS_H
#define COL_TARGET_RECORDER_CALLS_H

#include "base/arch.h"

/*
 * One line a call, in a thread that is recorded, from the filter on: at ticks, when threads begin and end, in fork children, in images that an exec begins, and
 * when the log is closed. A call that is missing here dies where a filter allows exactly these: tests/live/test_own_sandboxes.py runs a program under that filter.
 *
 * NEED(name, known, arguments...)  the recorder cannot do without
 * LIKE(name, known, arguments...)  may answer an error
 *
 * `known` has a bit for each argument that always has the value given.
 */
/* clang-format off */
#define COL_RECORDER_CALLS(NEED, LIKE)                                                                                                      \
    NEED(rt_sigreturn, 0)                                                                                                                   \
    NEED(rt_sigprocmask, 0)                                                                                                                 \
    NEED(gettid, 0)                                                                                                                         \
    NEED(getpid, 0)                                                                                                                         \
    NEED(clock_gettime, 0)                                                                                                                  \
    NEED(getrusage, 0)                                                                                                                      \
    NEED(mmap, 4, 0, 0, PROT_READ | PROT_WRITE)                                                                                             \
    NEED(munmap, 0)                                                                                                                         \
    NEED(mremap, 0)                                                                                                                         \
    NEED(madvise, 0)                                                                                                                        \
    NEED(close, 0)                                                                                                                          \
    NEED(sched_yield, 0)                                                                                                                    \
    LIKE(read, 0) LIKE(write, 0) LIKE(openat, 0) LIKE(lseek, 0) LIKE(pread64, 0) LIKE(pwrite64, 0) LIKE(fstat, 0) LIKE(newfstatat, 0)                          \
    LIKE(fstatfs, 0) LIKE(ftruncate, 0) LIKE(truncate, 0) LIKE(mkdirat, 0) LIKE(renameat, 0) LIKE(unlinkat, 0) LIKE(flock, 0)                \
    LIKE(getcwd, 0) LIKE(readlinkat, 0) LIKE(faccessat, 0) LIKE(faccessat2, 0)                                                                             \
    LIKE(prctl, 1, PR_GET_NAME) LIKE(prlimit64, 0) LIKE(geteuid, 0) LIKE(getegid, 0) LIKE(getuid, 0) LIKE(getgid, 0) LIKE(getppid, 0) LIKE(uname, 0)                          \
    LIKE(sched_getaffinity, 0) LIKE(clock_getres, 0) LIKE(nanosleep, 0) LIKE(clock_nanosleep, 0) LIKE(futex, 0)                              \
    LIKE(rt_sigaction, 0) LIKE(sigaltstack, 0) LIKE(rt_sigpending, 0) LIKE(rt_sigtimedwait, 0) LIKE(rt_sigqueueinfo, 0) LIKE(rt_tgsigqueueinfo, 0) LIKE(tgkill, 0)      \
    LIKE(timer_create, 0) LIKE(timer_settime, 0) LIKE(timer_delete, 0)                                                \
    LIKE(socket, 1, AF_UNIX) LIKE(connect, 0) LIKE(sendmsg, 0) LIKE(ppoll, 0)                                                               \
    COL_ARCH_OLD_CALLS(LIKE) LIKE(perf_event_open, 0)                                                                                                                \
    LIKE(ioctl, 2, 0, PERF_EVENT_IOC_ENABLE) LIKE(ioctl, 2, 0, PERF_EVENT_IOC_DISABLE)                                                      \
    LIKE(ioctl, 2, 0, PERF_EVENT_IOC_ID) LIKE(ioctl, 2, 0, PERF_EVENT_IOC_PERIOD)                                                                                                    \
    LIKE(fcntl, 2, 0, F_DUPFD_CLOEXEC) LIKE(fcntl, 2, 0, F_SETFL) LIKE(fcntl, 2, 0, F_SETSIG) LIKE(fcntl, 2, 0, F_SETOWN_EX)
/* clang-format on */

#endif
