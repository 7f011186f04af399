/* interpose_process.c -- processes are born, and end */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"
#include "entry/interpose_sandbox.h"
#include "entry/interpose_signal.h"

#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch_abi.h"
#include "base/os.h"
#include "base/real.h"
#include "control/ring_wait.h"
#include "control/session.h"
#include "control/signals.h"
#include "entry/program_memory.h"
#include "experiment/format.h"
#include "sample/exact_waits.h"
#include "target/thread.h"

/* ---- birth ---- */

/* fork, daemon, forkpty and the like call our pthread_atfork handlers; these do not. */

COL_EXPORT pid_t _Fork(void)
{
    col_session_fork_prepare();
    pid_t child = COL_REAL(_Fork)();
    if (child == 0)
        col_session_fork_child();
    else
        col_session_fork_parent();
    return child;
}

#define RING_FLAGS 2 /* of its parameters, as words of 32 bits */

/* As syscall(2), whose last place must be a jump: code that clones onto another stack returns over it. */
COL_EXPORT long col_entry_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");

long col_entry_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long (*real)(long, long, long, long, long, long, long) =
        (long (*)(long, long, long, long, long, long, long))(void *)COL_REAL(syscall);
    if (__builtin_expect(col_os_is_fork(number, a), 0) && col_session_is_open()) {
        col_session_fork_prepare();
        long child = real(number, a, b, c, d, e, f);
        if (child == 0 && col_os_is_fork_without_handlers(number, a))
            col_signals_begin_cleared();
        if (child == 0)
            col_session_fork_child();
        else
            col_session_fork_parent();
        return child;
    }
    uint32_t parameters[RING_FLAGS + 1];
    if (number == COL_CALL_RING_SETUP && col_entry_read_program((const void *)b, parameters, sizeof parameters))
        col_exact_waits_meet_ring(parameters[RING_FLAGS]);
    if (number == COL_CALL_RING_ENTER && col_thread_has_own_storage()) {
        uintptr_t before = col_ring_wait_set_frame((uintptr_t)__builtin_frame_address(0));
        long answer = real(number, a, b, c, d, e, f);
        col_ring_wait_set_frame(before);
        return answer;
    }
    if (number == SYS_execve)
        return execve((const char *)a, (char *const *)b, (char *const *)c);
    if (number == SYS_execveat)
        return execveat((int)a, (const char *)b, (char *const *)c, (char *const *)d, (int)e);
    if (number == SYS_sigaltstack)
        return sigaltstack((const stack_t *)a, (stack_t *)b);
    if (number == SYS_mlockall)
        return mlockall((int)a);
    if (__builtin_expect(col_entry_is_sandbox_call(number, a, b), 0))
        return col_entry_sandbox_call(number, a, b, c, d, e);
    if (__builtin_expect(col_entry_is_signal_call(number, a, d), 0))
        return col_entry_signal_call(a, b, c);
    return real(number, a, b, c, d, e, f);
}

struct birth {
    int (*routine)(void *);
    void *argument;
};

/* In a child with memory of its own: `birth` is its copy of what lay on its parent's stack. */
static int begin_child(void *argument)
{
    struct birth birth = *(struct birth *)argument;
    col_session_fork_child();
    return birth.routine(birth.argument);
}

COL_EXPORT int clone(int (*routine)(void *), void *stack, int flags, void *argument, ...)
{
    va_list list;
    va_start(list, argument);
    pid_t *parent_tid = va_arg(list, pid_t *);
    void *tls = va_arg(list, void *);
    pid_t *child_tid = va_arg(list, pid_t *);
    va_end(list);
    if ((flags & CLONE_VM) != 0 || routine == NULL || !col_session_is_open()) /* without a routine it is refused */
        return COL_REAL(clone)(routine, stack, flags, argument, parent_tid, tls, child_tid);
    struct birth birth = {routine, argument};
    col_session_fork_prepare();
    int child = COL_REAL(clone)(begin_child, stack, flags, &birth, parent_tid, tls, child_tid);
    col_session_fork_parent();
    return child;
}

COL_SECOND_NAME(__clone, clone);

/* ---- death ---- */

COL_EXPORT void _exit(int status)
{
    col_session_close(COL_CLOSE_EXIT);
    COL_REAL(_exit)(status);
    __builtin_unreachable();
}

COL_EXPORT void _Exit(int status)
{
    col_session_close(COL_CLOSE_EXIT);
    COL_REAL(_Exit)(status);
    __builtin_unreachable();
}
