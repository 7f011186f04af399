/* call_kinds.c -- the numbers of system calls that wait */
#include "base/call_kinds.h"

#include <sys/syscall.h>

enum col_call_kind col_call_kind_of(long call)
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
        return COL_CALL_OF_FILE;
    case SYS_futex:
#ifdef SYS_futex_waitv
    case SYS_futex_waitv:
#endif
    case SYS_flock:
        return COL_CALL_LOCK;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
        return COL_CALL_TIMER;
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
        return COL_CALL_EVENTS;
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
        return COL_CALL_SOCKET;
    case SYS_wait4:
    case SYS_waitid:
#ifdef SYS_vfork
    case SYS_vfork:
#endif
    case SYS_clone:
    case SYS_clone3:
        return COL_CALL_CHILD;
#ifdef SYS_pause
    case SYS_pause:
#endif
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
        return COL_CALL_SIGNAL;
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_mq_timedreceive:
    case SYS_mq_timedsend:
        return COL_CALL_MESSAGE;
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync:
    case SYS_syncfs:
    case SYS_sync_file_range:
    case SYS_msync:
    case SYS_openat:
    case SYS_unlinkat:
    case SYS_fallocate:
        return COL_CALL_STORAGE;
    default:
        return COL_CALL_OTHER;
    }
}
