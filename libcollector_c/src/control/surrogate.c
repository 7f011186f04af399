/* surrogate.c -- the signals that stand in the kernel for those that our clocks took from the program */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/surrogate.h"

#include <errno.h>
#include <string.h>

#include "base/os.h"
#include "base/os_signal.h"
#include "control/program_actions.h"
#include "sample/clock_source.h"

#define PAIRS 2
#define MARK 0x636f6c73u /* "cols" */
#define MARK_AT                                                                                                        \
    40 /* the last eight bytes of a siginfo that the kernel hands on, which no signal that reaches us uses */
#define FIRST_REAL_TIME 34
#define LAST_REAL_TIME 64

/* SIGRTMAX and SIGRTMIN are what programs use first, valgrind has SIGRTMAX, systemd SIGRTMIN to SIGRTMIN+29. */
static struct {
    struct pair {
        int signo, surrogate;
    } pairs[PAIRS];
} self = {{{COL_CLOCK_EVENT_SIGNAL, 62}, {COL_CLOCK_SIGNAL, 61}}};

/* A child of vfork has its parent's thread-local storage, and a mask of its own. */
static __thread struct {
    uint64_t set, child_set;
    pid_t child; /* who set the latter; 0: nobody */
} believed __attribute__((tls_model("initial-exec")));

uint64_t col_surrogate_word(const sigset_t *set)
{
    uint64_t word;
    memcpy(&word, set, sizeof word);
    return word;
}

void col_surrogate_set_word(sigset_t *set, uint64_t word)
{
    memcpy(set, &word, sizeof word);
}

int col_surrogate_of(int signo)
{
    for (unsigned i = 0; i < PAIRS; i++)
        if (self.pairs[i].signo == signo)
            return __atomic_load_n(&self.pairs[i].surrogate, __ATOMIC_RELAXED);
    return 0;
}

int col_surrogate_owner(int signo)
{
    for (unsigned i = 0; i < PAIRS && signo != 0; i++)
        if (__atomic_load_n(&self.pairs[i].surrogate, __ATOMIC_RELAXED) == signo)
            return self.pairs[i].signo;
    return 0;
}

int col_surrogate_choose(int signo, uint64_t taken)
{
    int chosen = LAST_REAL_TIME - 2;
    while (chosen >= FIRST_REAL_TIME && ((taken & col_os_signal_bit(chosen)) != 0 || col_surrogate_owner(chosen) != 0))
        chosen--;
    if (chosen < FIRST_REAL_TIME)
        chosen = 0;
    for (unsigned i = 0; i < PAIRS; i++)
        if (self.pairs[i].signo == signo)
            __atomic_store_n(&self.pairs[i].surrogate, chosen, __ATOMIC_RELAXED);
    return chosen;
}

/* ---- sets ---- */

uint64_t col_surrogate_to_kernel(uint64_t set)
{
    uint64_t kernel = set;
    for (unsigned i = 0; i < PAIRS; i++) {
        kernel &= ~(col_os_signal_bit(self.pairs[i].signo) | col_os_signal_bit(self.pairs[i].surrogate));
        if (set & col_os_signal_bit(self.pairs[i].signo))
            kernel |= col_os_signal_bit(self.pairs[i].surrogate);
    }
    return kernel;
}

uint64_t col_surrogate_to_program(uint64_t set, uint64_t believed_set)
{
    uint64_t program = set;
    for (unsigned i = 0; i < PAIRS; i++) {
        uint64_t signo = col_os_signal_bit(self.pairs[i].signo), surrogate = col_os_signal_bit(self.pairs[i].surrogate);
        bool is_in = surrogate != 0 ? (set & surrogate) != 0 : (believed_set & signo) != 0;
        program = (program & ~(signo | surrogate)) | (is_in ? signo : 0) | (believed_set & surrogate);
    }
    return program;
}

/* What the kernel's mask cannot tell. */
static uint64_t remembered(uint64_t set)
{
    uint64_t kept = 0;
    for (unsigned i = 0; i < PAIRS; i++)
        kept |= set & col_os_signal_bit(self.pairs[i].surrogate != 0 ? self.pairs[i].surrogate : self.pairs[i].signo);
    return kept;
}

uint64_t col_surrogate_believed(void)
{
    if (__builtin_expect(believed.child != 0, 0)) {
        if (believed.child == col_os_process_id())
            return believed.child_set;
        if (col_program_actions_are_own()) /* the child is gone, or runs another program */
            believed.child = 0;
    }
    return believed.set;
}

/* Most calls change nothing here, and then nobody is asked who makes them. */
void col_surrogate_believe(int how, uint64_t set)
{
    uint64_t before = col_surrogate_believed(), now = remembered(set);
    if (how == SIG_BLOCK)
        now = before | now;
    else if (how == SIG_UNBLOCK)
        now = before & ~set;
    if (now == before)
        return;
    if (col_program_actions_are_own()) {
        believed.set = now;
    } else {
        believed.child_set = now;
        believed.child = col_os_process_id();
    }
}

/* ---- signals ---- */

static void mark(siginfo_t *info)
{
    uint32_t words[2] = {MARK, (uint32_t)info->si_code};
    memcpy((char *)info + MARK_AT, words, sizeof words);
}

/*
 * Only pthread_kill and perf events address a thread; a process is addressed by kill, sigqueue and timers, and by the kernel for ITIMER_VIRTUAL, for the end of a child and
 * for a file. What names a thread by its number (F_OWNER_TID, SIGEV_THREAD_ID, pthread_sigqueue) cannot be told from those.
 */
static bool is_for_process(int signo, int code)
{
    return code != SI_TKILL && (signo != COL_CLOCK_EVENT_SIGNAL || code != COL_OS_TRAP_PERF);
}

/* The kernel lets nobody but the main thread say that a process was sent a signal by kill. The mark knows better. */
static int queue_to_process(int signo, siginfo_t *info)
{
    int error = col_os_queue_to_process(signo, info);
    if (error == -EPERM) {
        info->si_code = SI_QUEUE;
        error = col_os_queue_to_process(signo, info);
    }
    return error;
}

void col_surrogate_send(int signo, siginfo_t *info)
{
    queue_to_process(signo, info);
}

void col_surrogate_forward(int signo, const siginfo_t *info, bool is_blocked)
{
    int surrogate = col_surrogate_of(signo);
    bool is_directed =
        !is_blocked || !is_for_process(signo, info->si_code); /* where it is open this thread was chosen for it */
    siginfo_t copy;
    memcpy(&copy, info, sizeof copy);
    if (surrogate == 0 || (is_blocked && (col_os_pending_signals(!is_directed) & col_os_signal_bit(surrogate)) != 0))
        return;
    mark(&copy);
    if ((is_directed ? col_os_queue_to_thread(surrogate, &copy) : queue_to_process(surrogate, &copy)) ==
        -EAGAIN) { /* the limit on pending signals: one of kill's is sent all the same, without its siginfo */
        memset(&copy, 0, sizeof copy);
        col_os_queue_to_process(surrogate, &copy);
    }
}

bool col_surrogate_is_forwarded(const siginfo_t *info)
{
    uint32_t first;
    memcpy(&first, (const char *)info + MARK_AT, sizeof first);
    return first == MARK || (info->si_code == SI_USER && info->si_pid == 0);
}

int col_surrogate_reveal(int signo, siginfo_t *info)
{
    int owner = col_surrogate_owner(signo);
    uint32_t words[2];
    if (owner == 0 || !col_surrogate_is_forwarded(info))
        return signo;
    memcpy(words, (char *)info + MARK_AT, sizeof words);
    info->si_code = (int)words[1]; /* without a mark 0, SI_USER, as it is */
    memset((char *)info + MARK_AT, 0, sizeof words);
    info->si_signo = owner;
    return owner;
}

/* ---- without surrogates ---- */

#define KEPT_BYTES 32 /* of a siginfo: what kill and its kin fill in */

static __thread struct {
    uint64_t set;
    char infos[PAIRS][KEPT_BYTES];
} kept __attribute__((tls_model("initial-exec")));

void col_surrogate_keep(int signo, const siginfo_t *info)
{
    for (unsigned i = 0; i < PAIRS; i++)
        if (self.pairs[i].signo == signo && (kept.set & col_os_signal_bit(signo)) == 0)
            memcpy(kept.infos[i], info, KEPT_BYTES);
    kept.set |= col_os_signal_bit(signo);
}

uint64_t col_surrogate_kept(void)
{
    return kept.set;
}

int col_surrogate_take_kept(uint64_t set, siginfo_t *info)
{
    for (unsigned i = 0; i < PAIRS; i++) {
        uint64_t bit = col_os_signal_bit(self.pairs[i].signo);
        if ((kept.set & set & bit) == 0)
            continue;
        memset(info, 0, sizeof *info);
        memcpy(info, kept.infos[i], KEPT_BYTES);
        kept.set &= ~bit;
        return self.pairs[i].signo;
    }
    return 0;
}

void col_surrogate_begin_child(void)
{
    believed.set = col_surrogate_believed();
    believed.child = 0;
    kept.set = 0;
}
