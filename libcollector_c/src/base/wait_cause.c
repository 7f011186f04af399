/* wait_cause.c -- what a thread waits for, as far as its system call and the descriptor tell */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/wait_cause.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/text_format.h"

#define PATH_BYTES 64
#define NAME_BYTES 16 /* the beginning of what a descriptor leads to is enough */

const char *col_wait_cause_name(enum col_wait_cause cause)
{
    static const char names[COL_WAIT_CAUSES][12] = {
        [COL_WAIT_UNKNOWN] = "unseen",  [COL_WAIT_LOCK] = "lock",     [COL_WAIT_GIL] = "gil",
        [COL_WAIT_TIMER] = "timer",     [COL_WAIT_EVENTS] = "events", [COL_WAIT_SOCKET] = "socket",
        [COL_WAIT_PIPE] = "pipe",       [COL_WAIT_FILE] = "file",     [COL_WAIT_TERMINAL] = "terminal",
        [COL_WAIT_CHILD] = "child",     [COL_WAIT_SIGNAL] = "signal", [COL_WAIT_MESSAGE] = "message",
        [COL_WAIT_PAGE] = "page_fault", [COL_WAIT_OTHER] = "other"};
    return names[cause];
}

bool col_wait_cause_is_of_descriptor(long call)
{
    switch (call) {
    case SYS_read:
    case SYS_write:
    case SYS_readv:
    case SYS_writev:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_preadv:
    case SYS_pwritev:
    case SYS_ioctl:
    case SYS_fcntl:
    case SYS_splice:
    case SYS_sendfile:
        return true;
    default:
        return false;
    }
}

enum col_wait_cause col_wait_cause_of_call(long call)
{
    switch (call) {
    case SYS_futex:
#ifdef SYS_futex_waitv
    case SYS_futex_waitv:
#endif
    case SYS_flock:
        return COL_WAIT_LOCK;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
        return COL_WAIT_TIMER;
#ifdef SYS_poll /* x86 has older ones beside those that all have */
    case SYS_poll:
    case SYS_select:
    case SYS_epoll_wait:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
#ifdef SYS_io_uring_enter
    case SYS_io_uring_enter:
#endif
    case SYS_io_getevents:
        return COL_WAIT_EVENTS;
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
        return COL_WAIT_SOCKET;
    case SYS_wait4:
    case SYS_waitid:
#ifdef SYS_vfork
    case SYS_vfork:
#endif
    case SYS_clone:
    case SYS_clone3:
        return COL_WAIT_CHILD;
#ifdef SYS_pause
    case SYS_pause:
#endif
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
        return COL_WAIT_SIGNAL;
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_mq_timedreceive:
    case SYS_mq_timedsend:
        return COL_WAIT_MESSAGE;
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync:
    case SYS_syncfs:
    case SYS_sync_file_range:
    case SYS_msync:
    case SYS_openat:
    case SYS_unlinkat:
    case SYS_fallocate:
        return COL_WAIT_FILE;
    default:
        return col_wait_cause_is_of_descriptor(call) ? COL_WAIT_FILE : COL_WAIT_OTHER;
    }
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

enum col_wait_cause col_wait_cause_of_descriptor(const char *directory, unsigned descriptor)
{
    char path[PATH_BYTES], name[NAME_BYTES];
    col_text_print_into(path, sizeof path, "%s/%u", directory, descriptor);
    long bytes = col_arch_syscall(SYS_readlinkat, AT_FDCWD, (long)path, (long)name, sizeof name - 1, 0, 0);
    if (bytes <= 0)
        return COL_WAIT_OTHER;
    name[bytes] = '\0';
    if (name[0] == '/')
        return begins_with(name, "/dev/pts/") || begins_with(name, "/dev/tty") ? COL_WAIT_TERMINAL : COL_WAIT_FILE;
    return begins_with(name, "socket:") ? COL_WAIT_SOCKET
           : begins_with(name, "pipe:") ? COL_WAIT_PIPE
                                        : COL_WAIT_EVENTS; /* eventfd, timerfd, signalfd, inotify */
}
