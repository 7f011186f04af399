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

COL_EXPORT int sigpending(sigset_t *set)
{
    int result = COL_REAL(sigpending)(set);
    if (result == 0)
        col_signals_virtual_pending(set);
    return result;
}

/*
 * A program that waits for all signals must not be handed our ticks, but what others send it by the same signals: our handler notes those, and ends the wait.
 * One that comes just before the wait begins is found by the next one.
 */
static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    sigset_t ours = *set;
    keep_ours_out(&ours);
    int signo = col_signals_take_pending(set, info);
    if (signo == 0)
        signo = COL_REAL(sigtimedwait)(&ours, info, timeout);
    if (signo == -1 && errno == EINTR) {
        int noted = col_signals_take_pending(set, info);
        signo = noted != 0 ? noted : -1;
    }
    return signo;
}

COL_EXPORT int sigwait(const sigset_t *restrict set, int *restrict signo)
{
    int got;
    do
        got = wait_for(set, NULL, NULL);
    while (got == -1 && errno == EINTR); /* sigwait does not end for a handler */
    if (got == -1)
        return errno;
    *signo = got;
    return 0;
}

COL_EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
    return wait_for(set, info, NULL);
}

COL_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info, const struct timespec *restrict timeout)
{
    return wait_for(set, info, timeout);
}

COL_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t ours = *set;
    keep_ours_out(&ours);
    return COL_REAL(signalfd)(fd, &ours, flags);
}
