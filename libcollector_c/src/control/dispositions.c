/* dispositions.c -- what the program set for signals that we handle in its place, and what it is shown of them */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/dispositions.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/os_signal.h"
#include "base/real.h"
#include "base/sparse.h"
#include "control/program_actions.h"
#include "control/surrogate.h"
#include "target/thread.h"

#define REAL_TIME_BITS (~(uint64_t)0 << 33)
#define FEW_SIGNALS                                                                                                    \
    16 /* a set with no more real-time signals means each of them; with more it means all but a few others */
#define FAULTS                                                                                                         \
    (col_os_signal_bit(SIGSEGV) | col_os_signal_bit(SIGBUS) | col_os_signal_bit(SIGFPE) | col_os_signal_bit(SIGILL))
#define UNSETTABLE (SA_SIGINFO | (int)SA_RESETHAND) /* of the surrogate's action: flags that are the program's alone */

static struct {
    uint64_t taken, clocks; /* signals we handle; those of them that have a surrogate */
    uint64_t used;          /* by the program: never a surrogate */
    uint64_t guarded;       /* faults whose handler has an alternate stack to itself until it lets in the next */
    bool spares_alternate_stack;
} self;

static uint64_t shown_masks[_NSIG] COL_SPARSE; /* what sa_mask was said to hold of the surrogates */
static struct sigaction ours[_NSIG] COL_SPARSE;

bool col_dispositions_has_taken(int signo)
{
    return signo > 0 && signo < _NSIG && (self.taken & col_os_signal_bit(signo)) != 0;
}

static bool is_clock(int signo)
{
    return (self.clocks & col_os_signal_bit(signo)) != 0;
}

/* ---- surrogates ---- */

void col_dispositions_die(int signo)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    COL_REAL(sigaction)(signo, &action, NULL);
    col_arch_syscall(SYS_tgkill, col_os_process_id(), (long)col_os_thread_id(), signo, 0, 0, 0);
    col_os_change_mask(SIG_UNBLOCK, col_os_signal_bit(signo));
}

static void set_surrogate(int signo, struct sigaction *action);

/* What somebody sent by the number of a surrogate itself. */
static void take_foreign(int surrogate)
{
    if (col_thread_has_own_storage() && (col_surrogate_believed() & col_os_signal_bit(surrogate)) == 0)
        col_dispositions_die(surrogate);
}

typedef void (*handler)(int signo, siginfo_t *info, void *context);

/* What is to be called for it, with the number that `info` then has; NULL if nothing is. */
static __attribute__((noinline)) handler handler_for(int surrogate, siginfo_t *info)
{
    int signo = col_surrogate_reveal(surrogate, info);
    struct sigaction action = col_program_actions_get(signo);
    if (signo == surrogate) {
        take_foreign(surrogate);
        return NULL;
    }
    if (action.sa_handler == SIG_DFL)
        col_dispositions_die(signo);
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
        return NULL;
    struct sigaction none = action;
    none.sa_handler = SIG_DFL;
    if (action.sa_flags & (int)SA_RESETHAND)
        set_surrogate(signo, &none);
    return action.sa_sigaction;
}

/* Stands in the kernel for the program's own handler, with its flags and mask. It jumps to that: a backtrace in it shows what it would without us. */
static void on_surrogate(int surrogate, siginfo_t *info, void *context)
{
    handler call = handler_for(surrogate, info);
    if (call != NULL)
        call(info->si_signo, info, context);
}

static void translate_mask(sigset_t *set)
{
    col_surrogate_set_word(set, col_surrogate_to_kernel(col_surrogate_word(set)));
}

/*
 * Must no tick come in this handler? On a small alternate stack there is room for it, but for no tick on top. And the handler of a fault may go on to the stack that the
 * fault came from, as .NET's does, with what the kernel has told it still on the alternate one: the next signal there would be written over that.
 */
static bool spares_handler(int signo, const struct sigaction *action)
{
    uint64_t fault = FAULTS & col_os_signal_bit(signo);
    bool is_handler = action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
    self.guarded &= ~fault;
    if (!is_handler || (action->sa_flags & SA_ONSTACK) == 0)
        return false;
    if ((action->sa_flags & (int)SA_NODEFER) == 0)
        self.guarded |= fault;
    return self.spares_alternate_stack || (self.guarded & fault) != 0;
}

static void translate_action(int signo, struct sigaction *action)
{
    translate_mask(&action->sa_mask);
    if (spares_handler(signo, action))
        col_surrogate_set_word(&action->sa_mask, col_surrogate_word(&action->sa_mask) | self.clocks);
}

/* Installs `action` of the program for the surrogate; its flags and restorer become what the kernel made of them. */
static void set_surrogate(int signo, struct sigaction *action)
{
    int surrogate = col_surrogate_of(signo);
    struct sigaction real = *action, now;
    translate_action(signo, &real);
    real.sa_flags = (action->sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    if (action->sa_handler != SIG_IGN)
        real.sa_sigaction = on_surrogate;
    if (action->sa_handler == SIG_DFL) /* to die in it: nothing may come between */
        memset(&real.sa_mask, 0xff, sizeof real.sa_mask);
    col_program_actions_put(signo, action);
    if (surrogate == 0 || COL_REAL(sigaction)(surrogate, &real, NULL) != 0 ||
        COL_REAL(sigaction)(surrogate, NULL, &now) != 0)
        return;
    action->sa_restorer = now.sa_restorer;
    action->sa_flags = (now.sa_flags & ~UNSETTABLE) | (action->sa_flags & UNSETTABLE);
    col_program_actions_put(signo, action);
}

/* The program has a use for the surrogate: another one takes its place, in the calling thread's mask too. Other threads follow when they next set theirs. */
static void move(int surrogate)
{
    int signo = col_surrogate_owner(surrogate);
    struct sigaction action = col_program_actions_get(signo), none = {.sa_handler = SIG_DFL};
    uint64_t mask = col_os_change_mask(SIG_BLOCK, 0), was_believed = col_surrogate_believed();
    uint64_t bit = col_os_signal_bit(surrogate), program = col_surrogate_to_program(mask, was_believed);
    siginfo_t info;
    self.used |= bit;
    int next = col_surrogate_choose(signo, self.used);
    set_surrogate(signo, &action);
    col_surrogate_believe(SIG_SETMASK, program);
    col_os_change_mask(SIG_SETMASK, col_surrogate_to_kernel(program));
    COL_REAL(sigaction)(surrogate, &none, NULL);
    if ((mask & bit) != 0 && col_os_take_signal(bit, &info) > 0)
        col_surrogate_send(!col_surrogate_is_forwarded(&info) ? surrogate : next != 0 ? next : signo, &info);
}

/* A set says which signals the program cares for, unless it holds nearly all. */
static void note_use(uint64_t set)
{
    unsigned count = 0;
    for (uint64_t rest = set & REAL_TIME_BITS; rest != 0; rest &= rest - 1)
        count++;
    if (count > FEW_SIGNALS)
        return;
    self.used |= set & REAL_TIME_BITS;
    for (int signo = 34; signo < _NSIG; signo++)
        if ((set & col_os_signal_bit(signo)) != 0 && col_surrogate_owner(signo) != 0)
            move(signo);
}

/* ---- what the program sees and changes ---- */

void col_dispositions_take(int signo, const struct sigaction *before, bool has_surrogate)
{
    col_program_actions_take(signo, before);
    self.taken |= col_os_signal_bit(signo);
    if (!has_surrogate)
        return;
    self.clocks |= col_os_signal_bit(signo);
    for (int surrogate = col_surrogate_of(signo); surrogate != 0; surrogate = col_surrogate_choose(signo, self.used)) {
        struct sigaction found;
        if (COL_REAL(sigaction)(surrogate, NULL, &found) == 0 && found.sa_handler == SIG_DFL)
            break;
        self.used |= col_os_signal_bit(surrogate);
    }
    struct sigaction action = *before;
    set_surrogate(signo, &action);
    col_program_actions_put(signo, before); /* with the flags that were found */
}

static int change_other(int signo, const struct sigaction *action, struct sigaction *old)
{
    uint64_t shown = shown_masks[signo], asked = action != NULL ? col_surrogate_word(&action->sa_mask) : 0;
    struct sigaction real;
    if (action != NULL) {
        real = *action;
        if (action->sa_handler != SIG_DFL && signo >= 34)
            note_use(col_os_signal_bit(signo));
        translate_action(signo, &real);
    }
    if (col_surrogate_owner(signo) != 0) { /* which its owner uses; the program has it at its default */
        if (old != NULL)
            memset(old, 0, sizeof *old);
        return 0;
    }
    int result = COL_REAL(sigaction)(signo, action != NULL ? &real : NULL, old);
    if (result == 0 && action != NULL)
        shown_masks[signo] = asked;
    if (result == 0 && old != NULL)
        col_surrogate_set_word(&old->sa_mask, col_surrogate_to_program(col_surrogate_word(&old->sa_mask), shown));
    return result;
}

/* Those that constructors before ours have set. */
static void guard_present_handlers(void)
{
    struct sigaction found;
    for (uint64_t rest = FAULTS; rest != 0; rest &= rest - 1) {
        int signo = __builtin_ctzll(rest) + 1;
        if (!col_dispositions_has_taken(signo) && COL_REAL(sigaction)(signo, NULL, &found) == 0 &&
            (found.sa_flags & SA_ONSTACK) != 0)
            change_other(signo, &found, NULL);
    }
}

void col_dispositions_begin(void)
{
    uint64_t mask = col_os_change_mask(SIG_BLOCK, 0);
    col_surrogate_believe(SIG_SETMASK, mask);
    col_os_change_mask(SIG_SETMASK, col_surrogate_to_kernel(mask));
    guard_present_handlers();
}

int col_dispositions_change(int signo, const struct sigaction *action, struct sigaction *old)
{
    if (signo <= 0 || signo >= _NSIG || self.taken == 0)
        return COL_REAL(sigaction)(signo, action, old);
    if (!col_dispositions_has_taken(signo))
        return change_other(signo, action, old);
    struct sigaction before = col_program_actions_get(signo);
    if (action != NULL) {
        struct sigaction copy = *action;
        sigdelset(&copy.sa_mask, SIGKILL);
        sigdelset(&copy.sa_mask, SIGSTOP);
        if (is_clock(signo))
            set_surrogate(signo, &copy);
        else
            col_program_actions_put(signo, &copy);
    }
    if (old != NULL)
        *old = before;
    return 0;
}

void col_dispositions_spare_alternate_stack(void)
{
    self.spares_alternate_stack = true;
    for (int signo = 1; signo < _NSIG; signo++) {
        struct sigaction real;
        bool is_program =
            !col_dispositions_has_taken(signo) && signo != SIGKILL && signo != SIGSTOP && signo != 32 && signo != 33;
        if (!is_program || COL_REAL(sigaction)(signo, NULL, &real) != 0 || (real.sa_flags & SA_ONSTACK) == 0)
            continue;
        col_surrogate_set_word(&real.sa_mask, col_surrogate_word(&real.sa_mask) | self.clocks);
        COL_REAL(sigaction)(signo, &real, NULL);
    }
}

/* What is to be done `how` with the clocks' signals, beside what a set of the program's holds. */
static uint64_t clocks_to_change(int how, uint64_t word, bool is_spared)
{
    if (how == SIG_UNBLOCK && (word & self.guarded) != 0)
        return self.clocks;
    if (how == SIG_SETMASK && (word & self.guarded) != 0 && (col_os_change_mask(SIG_BLOCK, 0) & self.clocks) != 0)
        return self.clocks;
    if (!self.spares_alternate_stack) /* nobody blocks them, but a context that the program made may have */
        return how == SIG_UNBLOCK ? word & self.clocks : 0;
    bool is_left = !is_spared; /* by a jump that restored no mask, perhaps */
    return (how == SIG_UNBLOCK) == is_left ? self.clocks : 0;
}

void col_dispositions_mask_to_kernel(int how, sigset_t *set, bool is_spared)
{
    uint64_t word = col_surrogate_word(set);
    if (how != SIG_UNBLOCK)
        note_use(word);
    col_surrogate_believe(how, word);
    col_surrogate_set_word(set, col_surrogate_to_kernel(word) | clocks_to_change(how, word, is_spared));
}

void col_dispositions_set_to_kernel(sigset_t *set)
{
    note_use(col_surrogate_word(set));
    translate_mask(set);
}

void col_dispositions_set_to_program(sigset_t *set, uint64_t believed)
{
    col_surrogate_set_word(set, col_surrogate_to_program(col_surrogate_word(set), believed));
}

/* ---- what others inherit ---- */

/* Signals that are ignored, in the kernel as well; or as ever. */
static void change_ignored(bool is_uncovered)
{
    for (uint64_t rest = self.clocks; rest != 0; rest &= rest - 1) {
        int signo = __builtin_ctzll(rest) + 1;
        struct sigaction action = col_program_actions_get(signo), real, none = {.sa_handler = SIG_DFL};
        if (action.sa_handler != SIG_IGN)
            continue;
        COL_REAL(sigaction)(signo, is_uncovered ? &action : &ours[signo], &real);
        if (is_uncovered && real.sa_handler != SIG_IGN) /* else another thread is at it, too */
            ours[signo] = real;
        if (is_uncovered)
            COL_REAL(sigaction)(col_surrogate_of(signo), &none, NULL);
        else
            set_surrogate(signo, &action);
    }
}

static void hand_on_pending(uint64_t mask)
{
    for (uint64_t rest = self.clocks; rest != 0; rest &= rest - 1) {
        int signo = __builtin_ctzll(rest) + 1;
        uint64_t bit = col_os_signal_bit(col_surrogate_of(signo));
        siginfo_t info;
        while ((mask & bit) != 0 && (col_os_pending_signals(false) & bit) != 0 &&
               col_os_take_signal(bit, &info) > 0) { /* a thread's own come first */
            col_surrogate_reveal(col_surrogate_of(signo), &info);
            col_os_queue_to_thread(signo, &info);
        }
        while ((mask & bit) != 0 && col_os_take_signal(bit, &info) > 0) {
            col_surrogate_reveal(col_surrogate_of(signo), &info);
            col_surrogate_send(signo, &info);
        }
    }
}

void col_dispositions_uncover(bool with_pending)
{
    if (self.clocks == 0)
        return;
    uint64_t mask = col_os_change_mask(SIG_BLOCK, 0),
             program = col_surrogate_to_program(mask, col_surrogate_believed());
    change_ignored(true);
    if (program != mask)
        col_os_change_mask(SIG_SETMASK, program | (mask & col_surrogate_to_kernel(self.clocks)));
    if (with_pending)
        hand_on_pending(mask);
    if (program != mask)
        col_os_change_mask(SIG_SETMASK, program);
    col_program_actions_leave();
}

void col_dispositions_cover(void)
{
    if (self.clocks == 0)
        return;
    uint64_t program = col_os_change_mask(SIG_BLOCK, 0);
    col_program_actions_return();
    change_ignored(false);
    col_os_change_mask(SIG_SETMASK, col_surrogate_to_kernel(program));
}
