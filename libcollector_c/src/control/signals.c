/* signals.c -- the handlers of our signals, and whose they were before */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/signals.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/real.h"
#include "control/session.h"
#include "sample/clock_source.h"
#include "sample/sampler.h"

/* Bits of the virtual mask: what the program believes to have blocked. */
#define EVENT_BIT 1u
#define CLOCK_BIT 2u

static __thread struct {
    unsigned blocked, pending;
    struct sender {
        int code;
        pid_t pid;
        uid_t uid;
        union sigval value;
    } sender; /* of the last signal that became pending */
} local __attribute__((tls_model("initial-exec")));

static struct {
    bool is_installed;
    int sample_signal, pause_signal;
    struct sigaction program_action[_NSIG]; /* what the program set, or found, for each signal of ours */
} self;

bool col_signals_owns(int signo)
{
    return self.is_installed && signo > 0 && (signo == COL_CLOCK_EVENT_SIGNAL || signo == COL_CLOCK_SIGNAL || signo == self.sample_signal || signo == self.pause_signal);
}

static unsigned bit_of(int signo)
{
    return signo == COL_CLOCK_EVENT_SIGNAL ? EVENT_BIT : signo == COL_CLOCK_SIGNAL ? CLOCK_BIT : 0;
}

/* ---- a signal that was not for us ---- */

static void raise_here(int signo)
{
    col_arch_syscall(SYS_tgkill, col_os_process_id(), (long)col_os_thread_id(), signo, 0, 0, 0);
}

/* The signal's default is death: die of it, so that whoever waits sees the truth. */
static void die_of(int signo)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signo);
    COL_REAL(sigaction)(signo, &action, NULL);
    raise_here(signo);
    COL_REAL(pthread_sigmask)(SIG_UNBLOCK, &set, NULL);
}

/* With the mask the kernel would have set: the interrupted one, and what the action adds; never our signals. */
static void call_program(int signo, siginfo_t *info, void *context, const struct sigaction *action)
{
    sigset_t mask = ((ucontext_t *)context)->uc_sigmask, old;
    sigorset(&mask, &mask, &action->sa_mask);
    sigdelset(&mask, COL_CLOCK_EVENT_SIGNAL);
    sigdelset(&mask, COL_CLOCK_SIGNAL);
    COL_REAL(pthread_sigmask)(SIG_SETMASK, &mask, &old);
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(signo, info, context);
    else
        action->sa_handler(signo);
    COL_REAL(pthread_sigmask)(SIG_SETMASK, &old, NULL);
}

/* Does what the kernel would have done, had we not been in front. */
static void pass_on(int signo, siginfo_t *info, void *context)
{
    struct sigaction action = self.program_action[signo];
    if (local.blocked & bit_of(signo)) {
        local.pending |= bit_of(signo);
        local.sender = (struct sender){info->si_code, info->si_pid, info->si_uid, info->si_value};
        return;
    }
    if (action.sa_handler == SIG_IGN)
        return;
    if (action.sa_handler == SIG_DFL) {
        die_of(signo);
        return;
    }
    if (action.sa_flags & (int)SA_RESETHAND)
        self.program_action[signo].sa_handler = SIG_DFL;
    call_program(signo, info, context, &action);
}

/* ---- the handlers ---- */

static void on_clock(int signo, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    int tick = col_clock_source_tick_of(signo, info);
    if (tick < 0)
        pass_on(signo, info, context);
    else if (tick != COL_TICK_NONE && col_session_is_open())
        col_sampler_tick(context, (enum col_tick)tick);
    errno = saved_errno;
}

static void on_sample(int signo, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    (void)signo, (void)info, (void)context;
    col_session_sample("", COL_SAMPLE_SIGNAL);
    errno = saved_errno;
}

static void on_pause(int signo, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    (void)signo, (void)info, (void)context;
    if (!col_session_toggle(COL_PAUSE_SIGNAL))
        pass_on(signo, info, context);
    errno = saved_errno;
}

/* Past the wrapper of ThreadSanitizer, which would keep signals back until the program next makes a call. */
static void set_plainly(int signo, const struct sigaction *action, struct sigaction *old)
{
    int (*set)(int, const struct sigaction *, struct sigaction *);
    *(void **)&set = dlsym(RTLD_NEXT, "__sigaction");
    if (set == NULL || set(signo, action, old) != 0)
        COL_REAL(sigaction)(signo, action, old);
}

static void install(int signo, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask); /* nothing of the program's may run on top of a tick */
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGBUS);
    set_plainly(signo, &action, &self.program_action[signo]);
}

/* Whoever started us may have left our signals blocked: the program shall believe they are, and the kernel shall not. */
static void unblock_ours(void)
{
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, COL_CLOCK_EVENT_SIGNAL);
    sigaddset(&ours, COL_CLOCK_SIGNAL);
    COL_REAL(pthread_sigmask)(SIG_UNBLOCK, &ours, &before);
    local.blocked = (sigismember(&before, COL_CLOCK_EVENT_SIGNAL) == 1 ? EVENT_BIT : 0) | (sigismember(&before, COL_CLOCK_SIGNAL) == 1 ? CLOCK_BIT : 0);
}

void col_signals_install(int sample_signal, int pause_signal)
{
    install(COL_CLOCK_EVENT_SIGNAL, on_clock);
    install(COL_CLOCK_SIGNAL, on_clock);
    self.sample_signal = sample_signal;
    self.pause_signal = pause_signal;
    if (sample_signal != 0)
        install(sample_signal, on_sample);
    if (pause_signal != 0)
        install(pause_signal, on_pause);
    unblock_ours();
    self.is_installed = true;
}

/* ---- what the program believes ---- */

void col_signals_virtual_action(int signo, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction before = self.program_action[signo];
    if (action != NULL)
        self.program_action[signo] = *action;
    if (old != NULL)
        *old = before;
}

/* A signal that came while the program believed it blocked comes now. */
static void deliver_pending(void)
{
    unsigned due = local.pending & ~local.blocked;
    local.pending &= ~due;
    if (due & EVENT_BIT)
        raise_here(COL_CLOCK_EVENT_SIGNAL);
    if (due & CLOCK_BIT)
        raise_here(COL_CLOCK_SIGNAL);
}

unsigned col_signals_virtual_blocked(void)
{
    return local.blocked;
}

void col_signals_virtual_mask(int how, sigset_t *set)
{
    unsigned bits = (sigismember(set, COL_CLOCK_EVENT_SIGNAL) == 1 ? EVENT_BIT : 0) | (sigismember(set, COL_CLOCK_SIGNAL) == 1 ? CLOCK_BIT : 0);
    if (how == SIG_BLOCK)
        local.blocked |= bits;
    else if (how == SIG_UNBLOCK)
        local.blocked &= ~bits;
    else
        local.blocked = bits;
    if (how != SIG_UNBLOCK) {
        sigdelset(set, COL_CLOCK_EVENT_SIGNAL);
        sigdelset(set, COL_CLOCK_SIGNAL);
    }
    deliver_pending();
}

void col_signals_virtual_report(sigset_t *old, unsigned before)
{
    if (before & EVENT_BIT)
        sigaddset(old, COL_CLOCK_EVENT_SIGNAL);
    if (before & CLOCK_BIT)
        sigaddset(old, COL_CLOCK_SIGNAL);
}

void col_signals_virtual_pending(sigset_t *set)
{
    col_signals_virtual_report(set, local.pending);
}

int col_signals_take_pending(const sigset_t *set, siginfo_t *info)
{
    unsigned wanted = (sigismember(set, COL_CLOCK_EVENT_SIGNAL) == 1 ? EVENT_BIT : 0) | (sigismember(set, COL_CLOCK_SIGNAL) == 1 ? CLOCK_BIT : 0);
    unsigned due = local.pending & wanted;
    if (due == 0)
        return 0;
    due = due & EVENT_BIT ? EVENT_BIT : CLOCK_BIT;
    local.pending &= ~due;
    int signo = due == EVENT_BIT ? COL_CLOCK_EVENT_SIGNAL : COL_CLOCK_SIGNAL;
    if (info != NULL) {
        memset(info, 0, sizeof *info);
        info->si_signo = signo;
        info->si_code = local.sender.code;
        info->si_pid = local.sender.pid;
        info->si_uid = local.sender.uid;
        info->si_value = local.sender.value;
    }
    return signo;
}

void col_signals_inherit(unsigned blocked)
{
    local.blocked = blocked;
    local.pending = 0;
}
