/* interpose_signal_old.c -- the System V and BSD calls about signals, which the C library makes of calls of its own that we do not see */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/os_signal.h"
#include "base/real.h"
#include "control/dispositions.h"
#include "control/surrogate.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* that they are old is no news here */

static struct {
    uint64_t without_restart; /* what siginterrupt asked of later calls of signal */
} self;

/* The C library may do it alone: nothing of the call concerns signals of ours. */
static bool is_foreign(int signo)
{
    return signo <= 0 || signo >= _NSIG || (!col_dispositions_has_taken(signo) && col_surrogate_owner(signo) == 0);
}

static sighandler_t install(int signo, sighandler_t handler, int flags, bool has_mask)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    if (has_mask)
        sigaddset(&action.sa_mask, signo);
    return sigaction(signo, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

COL_EXPORT sighandler_t signal(int signo, sighandler_t handler)
{
    if (is_foreign(signo) || handler == SIG_ERR)
        return COL_REAL(signal)(signo, handler);
    return install(signo, handler, self.without_restart & col_os_signal_bit(signo) ? 0 : SA_RESTART, true);
}

COL_EXPORT sighandler_t ssignal(int signo, sighandler_t handler)
{
    return signal(signo, handler);
}

sighandler_t bsd_signal(int signo, sighandler_t handler);
COL_EXPORT sighandler_t bsd_signal(int signo, sighandler_t handler)
{
    return signal(signo, handler);
}

COL_EXPORT sighandler_t __sysv_signal(int signo, sighandler_t handler)
{
    if (is_foreign(signo) || handler == SIG_ERR)
        return COL_REAL(__sysv_signal)(signo, handler);
    return install(signo, handler, (int)SA_RESETHAND | SA_NODEFER, false);
}

COL_EXPORT sighandler_t sysv_signal(int signo, sighandler_t handler)
{
    return __sysv_signal(signo, handler);
}

COL_EXPORT int siginterrupt(int signo, int does_interrupt)
{
    struct sigaction action;
    if (is_foreign(signo))
        return COL_REAL(siginterrupt)(signo, does_interrupt);
    if (sigaction(signo, NULL, &action) != 0)
        return -1;
    self.without_restart = does_interrupt ? self.without_restart | col_os_signal_bit(signo)
                                          : self.without_restart & ~col_os_signal_bit(signo);
    action.sa_flags = does_interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    return sigaction(signo, &action, NULL);
}

/* ---- System V ---- */

static int change_one(int how, int signo, sigset_t *old)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signo);
    return sigprocmask(how, &set, old);
}

COL_EXPORT sighandler_t sigset(int signo, sighandler_t handler)
{
    sigset_t before;
    struct sigaction old;
    if (is_foreign(signo))
        return COL_REAL(sigset)(signo, handler);
    if (handler == SIG_HOLD) {
        if (change_one(SIG_BLOCK, signo, &before) != 0)
            return SIG_ERR;
        return sigismember(&before, signo) == 1    ? SIG_HOLD
               : sigaction(signo, NULL, &old) == 0 ? old.sa_handler
                                                   : SIG_ERR;
    }
    sighandler_t found = install(signo, handler, 0, false);
    if (found == SIG_ERR || change_one(SIG_UNBLOCK, signo, &before) != 0)
        return SIG_ERR;
    return sigismember(&before, signo) == 1 ? SIG_HOLD : found;
}

COL_EXPORT int sighold(int signo)
{
    return is_foreign(signo) ? COL_REAL(sighold)(signo) : change_one(SIG_BLOCK, signo, NULL);
}

COL_EXPORT int sigrelse(int signo)
{
    return is_foreign(signo) ? COL_REAL(sigrelse)(signo) : change_one(SIG_UNBLOCK, signo, NULL);
}

COL_EXPORT int sigignore(int signo)
{
    if (is_foreign(signo))
        return COL_REAL(sigignore)(signo);
    return install(signo, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}

int __xpg_sigpause(int signo);
COL_EXPORT int __xpg_sigpause(int signo)
{
    sigset_t set;
    if (sigprocmask(SIG_BLOCK, NULL, &set) != 0 || sigdelset(&set, signo) != 0)
        return -1;
    return sigsuspend(&set);
}

/* ---- BSD, whose masks are the first 32 signals ---- */

static sigset_t set_of(int mask)
{
    sigset_t set;
    sigemptyset(&set);
    col_surrogate_set_word(&set, (uint32_t)mask);
    return set;
}

static int change_first(int how, int mask)
{
    sigset_t set = set_of(mask), old;
    return sigprocmask(how, &set, &old) == 0 ? (int)(uint32_t)col_surrogate_word(&old) : -1;
}

COL_EXPORT int sigblock(int mask)
{
    return change_first(SIG_BLOCK, mask);
}

COL_EXPORT int sigsetmask(int mask)
{
    return change_first(SIG_SETMASK, mask);
}

COL_EXPORT int siggetmask(void)
{
    return change_first(SIG_BLOCK, 0);
}

int __sigpause(int signo_or_mask, int is_signo);
COL_EXPORT int __sigpause(int signo_or_mask, int is_signo)
{
    if (is_signo)
        return __xpg_sigpause(signo_or_mask);
    sigset_t set = set_of(signo_or_mask);
    return sigsuspend(&set);
}

/* The header gives the name to the System V call. */
COL_EXPORT int col_entry_bsd_sigpause(int mask) __asm__("sigpause");
int col_entry_bsd_sigpause(int mask)
{
    return __sigpause(mask, 0);
}
