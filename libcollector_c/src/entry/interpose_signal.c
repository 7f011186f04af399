/* interpose_signal.c -- the program's view of signals: ours look unused, unblocked only for us */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>

#include "base/real.h"
#include "control/signals.h"
#include "sample/clock_source.h"

static void keep_ours_out(sigset_t *set)
{
    if (col_signals_owns(COL_CLOCK_EVENT_SIGNAL)) {
        sigdelset(set, COL_CLOCK_EVENT_SIGNAL);
        sigdelset(set, COL_CLOCK_SIGNAL);
    }
}

COL_EXPORT int sigaction(int signo, const struct sigaction *restrict action, struct sigaction *restrict old)
{
    if (col_signals_owns(signo)) {
        col_signals_virtual_action(signo, action, old);
        return 0;
    }
    if (action == NULL)
        return COL_REAL(sigaction)(signo, NULL, old);
    struct sigaction ours = *action;
    keep_ours_out(&ours.sa_mask);
    return COL_REAL(sigaction)(signo, &ours, old);
}

COL_EXPORT sighandler_t signal(int signo, sighandler_t handler)
{
    if (!col_signals_owns(signo))
        return COL_REAL(signal)(signo, handler);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    col_signals_virtual_action(signo, &action, &old);
    return old.sa_handler;
}

static int change_mask(int how, const sigset_t *set, sigset_t *old, int (*real)(int, const sigset_t *, sigset_t *))
{
    if (!col_signals_owns(COL_CLOCK_EVENT_SIGNAL) || (set != NULL && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK))
        return real(how, set, old);
    unsigned before = col_signals_virtual_blocked();
    sigset_t ours;
    if (set != NULL)
        ours = *set;
    int result = real(how, set != NULL ? (col_signals_virtual_mask(how, &ours), &ours) : NULL, old);
    if (old != NULL)
        col_signals_virtual_report(old, before);
    return result;
}

COL_EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    return change_mask(how, set, old, COL_REAL(sigprocmask));
}

COL_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    return change_mask(how, set, old, COL_REAL(pthread_sigmask));
}

/* A program that waits for all signals must not be handed our ticks. */

COL_EXPORT int sigwait(const sigset_t *restrict set, int *restrict signo)
{
    sigset_t ours = *set;
    keep_ours_out(&ours);
    return COL_REAL(sigwait)(&ours, signo);
}

COL_EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
    sigset_t ours = *set;
    keep_ours_out(&ours);
    return COL_REAL(sigwaitinfo)(&ours, info);
}

COL_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict timeout)
{
    sigset_t ours = *set;
    keep_ours_out(&ours);
    return COL_REAL(sigtimedwait)(&ours, info, timeout);
}

COL_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t ours = *set;
    keep_ours_out(&ours);
    return COL_REAL(signalfd)(fd, &ours, flags);
}
