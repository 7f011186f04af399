/* signals.h -- the handlers of our signals, and whose they were before */
#ifndef COL_CONTROL_SIGNALS_H
#define COL_CONTROL_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Installs the handlers of the clock's signals and, if not 0, of the two signals the user asked for. Ordinary code, once. */
void col_signals_install(int sample_signal, int pause_signal);

/* True for the signals whose kernel-side handler is ours and stays so. Signal-safe. */
bool col_signals_owns(int signo);

/* What the program believes is installed for a signal of ours; either pointer may be NULL. As sigaction(2). Signal-safe. */
void col_signals_virtual_action(int signo, const struct sigaction *action, struct sigaction *old);

/* The program's mask, of which our signals are only remembered: takes them out of `set` and puts back into `old` what the program believes.
 * `how` as sigprocmask(2); `set` and `old` may be NULL. Signal-safe. */
void col_signals_virtual_mask(int how, sigset_t *set);
void col_signals_virtual_report(sigset_t *old, unsigned before);
unsigned col_signals_virtual_blocked(void);

/* Signals of ours that others sent to this thread while the program believed them blocked: adds them to `set`; takes the first that is in `set`
 * and returns its number, 0 if there is none. `info` may be NULL. Signal-safe. */
void col_signals_virtual_pending(sigset_t *set);
int col_signals_take_pending(const sigset_t *set, siginfo_t *info);

/* A new thread has the mask of its maker. */
void col_signals_inherit(unsigned blocked);

#endif
