/* os_signal.h -- the system calls about signals, past the C library */
#ifndef COL_BASE_OS_SIGNAL_H
#define COL_BASE_OS_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define COL_OS_TRAP_PERF 6 /* si_code of a perf event's SIGTRAP, which C library headers do not all have */

/* From anywhere, as os.h. Sets are the kernel's words: bit n-1 is signal n. */

static inline uint64_t col_os_signal_bit(int signo)
{
    return signo > 0 ? (uint64_t)1 << (signo - 1) : 0;
}

/* `how` as sigprocmask(2); returns the mask before. */
uint64_t col_os_change_mask(int how, uint64_t set);

/* To this process, to the calling thread: 0 or -errno. */
int col_os_queue_to_process(int signo, const siginfo_t *info);
int col_os_queue_to_thread(int signo, const siginfo_t *info);

/* Takes one of `set` that is pending: its number, or -EAGAIN. */
int col_os_take_signal(uint64_t set, siginfo_t *info);

/* What is pending for the calling thread, its own and its process's, of what it has blocked. */
uint64_t col_os_signals_at_hand(void);

/* What is pending for the process, or for the calling thread alone; for either of them, if /proc does not tell. */
uint64_t col_os_pending_signals(bool of_process);

#endif
