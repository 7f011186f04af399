/* signals.h -- the handlers of our signals */
#ifndef COL_CONTROL_SIGNALS_H
#define COL_CONTROL_SIGNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Installs the handlers of the clock's signals and, if not 0, of the two signals the user asked for. Ordinary code, once. */
void col_signals_install(int sample_signal, int pause_signal);

/* In a new process that has no handlers, because it was made so (CLONE_CLEAR_SIGHAND): ours are installed, and the program has none. Signal-safe. */
void col_signals_begin_cleared(void);

/* The program has set an alternate stack of so many bytes: handlers of ours that would not fit on it do without from now on. Signal-safe. */
void col_signals_note_alternate_stack(size_t bytes);

/* The caller runs on an alternate stack with no room for a tick. Signal-safe. */
bool col_signals_is_on_small_stack(void);

/* Before a jump that may leave a handler on a small alternate stack: drops the ticks that wait for its end. Signal-safe. */
void col_signals_drop_waiting(void);

/* How often, in this thread, a handler of ours has interrupted what no handler of the program would have. Signal-safe. */
uint32_t col_signals_forward_count(void);

/* How often one of ours has run in the calling thread: a tick's, or that of a signal that takes samples or pauses. */
uint32_t col_signals_handled_count(void);

#endif
