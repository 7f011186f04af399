/* signals.c -- the handlers of our signals */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/signals.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "base/arch.h"
#include "base/os_signal.h"
#include "base/real.h"
#include "control/alternate_stack.h"
#include "control/dispositions.h"
#include "control/program_actions.h"
#include "control/ring_wait.h"
#include "control/session.h"
#include "control/surrogate.h"
#include "sample/clock_source.h"
#include "sample/sampler.h"
#include "target/stack_room.h"
#include "target/thread.h"

#define ROOM_BYTES 4096u /* of stack that a tick may need */

static __thread uint32_t forward_count __attribute__((tls_model("initial-exec")));
static __thread uint32_t handled_count __attribute__((tls_model("initial-exec")));

static struct {
    int sample_signal, pause_signal;
    bool is_off_alternate_stack, has_small_stack;
    size_t frame_bytes; /* what the kernel puts on a handler's stack */
    int (*set_plainly)(int, const struct sigaction *, struct sigaction *);
} self;

uint32_t col_signals_forward_count(void)
{
    return forward_count;
}

uint32_t col_signals_handled_count(void)
{
    return handled_count;
}

/* ---- a signal that was not for us ---- */

/* With the mask the kernel would have set: the interrupted one, and what the action adds. */
static void call_program(int signo, siginfo_t *info, void *context, const struct sigaction *action)
{
    uint64_t added = col_surrogate_to_kernel(col_surrogate_word(&action->sa_mask) |
                                             (action->sa_flags & SA_NODEFER ? 0 : col_os_signal_bit(signo)));
    uint64_t before = col_os_change_mask(SIG_SETMASK, col_surrogate_word(&((ucontext_t *)context)->uc_sigmask) | added);
    action->sa_sigaction(signo, info, context);
    col_os_change_mask(SIG_SETMASK, before);
}

/* For a signal of the user's, and for one of the clocks' that no surrogate was left for. */
static void deliver(int signo, siginfo_t *info, void *context)
{
    struct sigaction action = col_program_actions_get(signo), none = action;
    if (action.sa_handler == SIG_IGN)
        return;
    if (action.sa_handler == SIG_DFL) {
        col_dispositions_die(signo);
        return;
    }
    none.sa_handler = SIG_DFL;
    if (action.sa_flags & (int)SA_RESETHAND)
        col_dispositions_change(signo, &none, NULL);
    call_program(signo, info, context, &action);
}

/* By an instruction at most: a call that is made again is stepped back to. */
static bool is_near(uintptr_t address, const void *context)
{
    uintptr_t pc;
    memcpy(&pc, (const char *)context + col_arch_context_offset(COL_DWARF_PC), sizeof pc);
    return address - pc + 16 <= 32;
}

/*
 * A breakpoint and the like: the kernel kills who has it blocked or ignored. A perf event's signal waits, as any other, and so does that of a child's end (clone with SIGTRAP
 * as its signal), whose codes are the same numbers: a trap tells where the thread is.
 */
static bool is_forced(int signo, const siginfo_t *info, const void *context)
{
    return signo == SIGTRAP && info->si_code > 0 && info->si_code != COL_OS_TRAP_PERF &&
           (info->si_code == SI_KERNEL || is_near((uintptr_t)info->si_addr, context));
}

static __attribute__((noinline)) void count_forward(void)
{
    if (col_thread_has_own_storage())
        forward_count++;
}

/* Does what the kernel would have done, had we not been in front. */
static void pass_on(int signo, siginfo_t *info, void *context)
{
    uint64_t surrogate = col_os_signal_bit(col_surrogate_of(signo));
    struct sigaction action = col_program_actions_get(signo);
    uint64_t believed = surrogate == 0 && col_thread_has_own_storage() ? col_surrogate_believed() : 0;
    bool is_blocked = (col_surrogate_word(&((ucontext_t *)context)->uc_sigmask) & surrogate) != 0 ||
                      (believed & col_os_signal_bit(signo)) != 0;
    if ((is_forced(signo, info, context) && (is_blocked || action.sa_handler == SIG_IGN)) ||
        (action.sa_handler == SIG_DFL && !is_blocked)) {
        col_dispositions_die(signo);
    } else if (surrogate == 0 && is_blocked) {
        if (action.sa_handler != SIG_IGN)
            col_surrogate_keep(signo, info);
        count_forward();
    } else if (surrogate == 0) {
        deliver(signo, info, context);
    } else {
        col_surrogate_forward(signo, info, is_blocked);
        if (is_blocked)
            count_forward();
        bool has_handler = action.sa_handler != SIG_IGN && action.sa_handler != SIG_DFL;
        if (!is_blocked && has_handler && !(action.sa_flags & SA_RESTART) && !is_forced(signo, info, context))
            col_arch_break_restart(context);
    }
}

/* ---- the handlers ---- */

/* Is there as much stack left as a tick may need? Only alternate stacks are ever as small. */
static bool has_room(const ucontext_t *context)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = (uintptr_t)context->uc_stack.ss_sp;
    bool is_alternate = here - low < context->uc_stack.ss_size;
    col_stack_room_note(is_alternate ? low : 0);
    return !is_alternate || here - low >= ROOM_BYTES;
}

/* The program may have made the CPU check alignment; or this thread's storage may not be what the C library made: then nothing of it may be touched, errno included. */
static bool can_sample(const ucontext_t *context)
{
    col_arch_allow_unaligned(context);
    if (!col_thread_has_own_storage())
        return false;
    handled_count++;
    return has_room(context);
}

static void on_clock(int signo, siginfo_t *info, void *context)
{
    if (col_thread_is_silenced())
        return;
    bool is_able = can_sample(context);
    int tick = col_clock_source_tick_of(signo, info);
    if (tick < 0)
        pass_on(signo, info, context);
    else if (!is_able)
        col_thread_lose_tick(tick == COL_TICK_USER || tick == COL_TICK_TIMER);
    else if (col_session_is_open())
        col_sampler_tick(context, (enum col_tick)tick); /* leaves errno as it was */
    if (tick >= 0 && is_able)
        col_ring_wait_go_on(context);
}

static void on_sample(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)info;
    if (col_thread_is_silenced() || !can_sample(context))
        return;
    int saved_errno = errno;
    col_session_sample("", COL_SAMPLE_SIGNAL);
    errno = saved_errno;
}

static void on_pause(int signo, siginfo_t *info, void *context)
{
    if (col_thread_is_silenced() || !can_sample(context))
        return;
    int saved_errno = errno;
    if (!col_session_toggle(COL_PAUSE_SIGNAL))
        deliver(signo, info, context);
    errno = saved_errno;
}

/* ---- their installation ---- */

/* Past the wrapper of ThreadSanitizer, which would keep signals back until the program next makes a call. */
static void set_plainly(int signo, const struct sigaction *action, struct sigaction *old)
{
    if (self.set_plainly == NULL || self.set_plainly(signo, action, old) != 0)
        COL_REAL(sigaction)(signo, action, old);
}

/* Nothing of the program's may run on top of a tick, nor may the C library cancel the thread there: all bits, its own two signals too, which sigfillset leaves out. */
static void install(int signo, void (*handler)(int, siginfo_t *, void *))
{
    struct sigaction action = {.sa_sigaction = handler,
                               .sa_flags = SA_SIGINFO | SA_RESTART | (self.is_off_alternate_stack ? 0 : SA_ONSTACK)};
    memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGBUS);
    set_plainly(signo, &action, NULL);
}

static void install_all(bool is_first)
{
    const struct {
        int signo;
        void (*handler)(int, siginfo_t *, void *);
    } ours[] = {{COL_CLOCK_EVENT_SIGNAL, on_clock},
                {COL_CLOCK_SIGNAL, on_clock},
                {self.sample_signal, on_sample},
                {self.pause_signal, on_pause}};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        struct sigaction before;
        if (ours[i].signo == 0)
            continue;
        if (is_first) { /* before ours: from its first moment on that has to know the program's */
            set_plainly(ours[i].signo, NULL, &before);
            col_dispositions_take(ours[i].signo, &before, ours[i].handler == on_clock);
        }
        install(ours[i].signo, ours[i].handler);
    }
}

/* One that a constructor before ours has set. */
static void note_present_stack(void)
{
    stack_t now;
    if (COL_REAL(sigaltstack)(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0)
        col_signals_note_alternate_stack(now.ss_size);
}

void col_signals_install(int sample_signal, int pause_signal)
{
    self.sample_signal = sample_signal;
    self.pause_signal = pause_signal;
    col_thread_learn_storage();
    col_thread_has_own_storage(); /* for threads that share it, too */
    self.frame_bytes = getauxval(AT_MINSIGSTKSZ);
    if (self.frame_bytes == 0) /* before Linux 5.14 */
        self.frame_bytes = ROOM_BYTES / 2;
    *(void **)&self.set_plainly = dlsym(RTLD_NEXT, "__sigaction");
    install_all(true);
    col_dispositions_begin();
    note_present_stack();
    col_alternate_stack_begin();
    col_alternate_stack_adopt();
}

void col_signals_begin_cleared(void)
{
    struct sigaction none = {.sa_handler = SIG_DFL};
    col_program_actions_adopt();
    for (int signo = 1; signo < _NSIG; signo++)
        if (col_dispositions_has_taken(signo) && col_program_actions_get(signo).sa_handler != SIG_IGN)
            col_dispositions_change(signo, &none, NULL);
    install_all(false);
}

void col_signals_note_alternate_stack(size_t bytes)
{
    if (bytes < 2 * (self.frame_bytes + ROOM_BYTES) && !self.has_small_stack) {
        self.has_small_stack = true;
        col_dispositions_spare_alternate_stack();
    }
    if (self.is_off_alternate_stack || bytes >= self.frame_bytes + ROOM_BYTES)
        return;
    self.is_off_alternate_stack = true;
    install_all(false);
}

bool col_signals_is_on_small_stack(void)
{
    stack_t now;
    return self.has_small_stack && COL_REAL(sigaltstack)(NULL, &now) == 0 && (now.ss_flags & SS_ONSTACK) != 0 &&
           now.ss_size < 2 * (self.frame_bytes + ROOM_BYTES);
}

/* Their time is the next sample's; what others have sent stays. */
void col_signals_drop_waiting(void)
{
    siginfo_t info;
    int signo;
    while (col_signals_is_on_small_stack() &&
           (signo = col_os_take_signal(col_os_signal_bit(COL_CLOCK_EVENT_SIGNAL) | col_os_signal_bit(COL_CLOCK_SIGNAL),
                                       &info)) > 0)
        if (col_clock_source_tick_of(signo, &info) < 0)
            col_surrogate_forward(signo, &info, true);
}
