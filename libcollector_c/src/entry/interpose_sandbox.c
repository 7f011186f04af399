/* interpose_sandbox.c -- the program puts itself under seccomp or under a tracer, or redirects its system calls */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose_sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/real.h"
#include "control/child_environment.h"
#include "control/sandbox.h"
#include "control/session.h"
#include "entry/interpose.h"
#include "sample/tracer_watch.h"
#include "target/seccomp_filter.h"

/* Of syscall user dispatch, which older headers do not know. */
#define SET_DISPATCH 59
#define DISPATCH_ON 1

/* Strict mode, or a filter that the kernel may accept: others it will refuse, and programs ask it just to see how. */
static bool is_entering(unsigned long mode, const struct sock_fprog *filter)
{
    return mode == SECCOMP_MODE_STRICT || (mode == SECCOMP_MODE_FILTER && col_seccomp_filter_is_valid(filter));
}

/* seccomp(2) numbers its operations otherwise than prctl(2) its modes. */
static unsigned long mode_of(long operation)
{
    return operation == SECCOMP_SET_MODE_STRICT   ? SECCOMP_MODE_STRICT
           : operation == SECCOMP_SET_MODE_FILTER ? SECCOMP_MODE_FILTER
                                                  : SECCOMP_MODE_DISABLED;
}

/* Where nothing was ever to be recorded, as under Valgrind, nobody looks at the filter: that takes calls which Valgrind reports. */
static enum col_sandbox_step enter(unsigned long mode, const struct sock_fprog *filter, bool is_for_all)
{
    return col_child_environment_library() != NULL && is_entering(mode, filter)
               ? col_sandbox_enter(mode == SECCOMP_MODE_STRICT ? NULL : filter, is_for_all)
               : COL_SANDBOX_UNCHANGED;
}

static long come_back(enum col_sandbox_step step, long answer)
{
    if (answer != 0) /* also the thread that could not be made to join */
        col_sandbox_undo(step);
    return answer;
}

COL_EXPORT int prctl(int option, ...)
{
    va_list list;
    va_start(list, option);
    unsigned long a = va_arg(list, unsigned long), b = va_arg(list, unsigned long), c = va_arg(list, unsigned long),
                  d = va_arg(list, unsigned long);
    va_end(list);
    if (option != PR_SET_SECCOMP && (option != SET_DISPATCH || a != DISPATCH_ON))
        return COL_REAL(prctl)(option, a, b, c, d);
    enum col_sandbox_step step =
        option == SET_DISPATCH ? col_sandbox_redirect() : enter(a, (const struct sock_fprog *)b, false);
    return (int)come_back(step, COL_REAL(prctl)(option, a, b, c, d));
}

/* A vfork child that does so is about to run another program, which looks for itself. */
static bool surrender(void)
{
    return col_session_is_open() && getpid() == col_session_pid() && col_tracer_watch_surrender();
}

static long come_back_to_own(bool has_surrendered, long answer)
{
    if (has_surrendered)
        col_tracer_watch_surrendered(answer == 0);
    return answer;
}

COL_EXPORT long ptrace(enum __ptrace_request request, ...)
{
    va_list list;
    va_start(list, request);
    pid_t pid = va_arg(list, pid_t);
    void *address = va_arg(list, void *), *data = va_arg(list, void *), *more = va_arg(list, void *);
    va_end(list);
    bool has_surrendered = request == PTRACE_TRACEME && surrender();
    return come_back_to_own(has_surrendered, COL_REAL(ptrace)(request, pid, address, data, more));
}

bool col_entry_is_sandbox_call(long number, long a, long b)
{
    if (number == SYS_ptrace)
        return a == PTRACE_TRACEME;
    return (number == SYS_seccomp && mode_of(a) != SECCOMP_MODE_DISABLED) ||
           (number == SYS_prctl && a == PR_SET_SECCOMP && b != SECCOMP_MODE_DISABLED) ||
           (number == SYS_prctl && a == SET_DISPATCH && b == DISPATCH_ON);
}

long col_entry_sandbox_call(long number, long a, long b, long c, long d, long e)
{
    if (number == SYS_ptrace) {
        bool has_surrendered = surrender();
        return come_back_to_own(has_surrendered, COL_REAL(syscall)(number, a, b, c));
    }
    if (number == SYS_prctl && a == SET_DISPATCH) {
        enum col_sandbox_step step = col_sandbox_redirect();
        return come_back(step, COL_REAL(syscall)(number, a, b, c, d, e));
    }
    bool is_seccomp = number == SYS_seccomp;
    unsigned long flags = is_seccomp ? (unsigned long)b : 0;
    unsigned long mode = is_seccomp ? mode_of(a) : (unsigned long)b;
    enum col_sandbox_step step = enter(mode, (const struct sock_fprog *)c, (flags & SECCOMP_FILTER_FLAG_TSYNC) != 0);
    bool is_listening = (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0;
    long answer = COL_REAL(syscall)(number, a, b, c);
    return is_listening && answer > 0 ? answer : come_back(step, answer);
}
