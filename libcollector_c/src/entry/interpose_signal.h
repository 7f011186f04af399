/* interpose_signal.h -- rt_sigaction made through syscall(2), by which programs that start others set all signals back to their defaults */
#ifndef COL_ENTRY_INTERPOSE_SIGNAL_H
#define COL_ENTRY_INTERPOSE_SIGNAL_H

#include <stdbool.h>

/* True for a call that the second function must make: it is about a signal that we handle. It answers as syscall(2) does. */
bool col_entry_is_signal_call(long number, long signo, long set_bytes);
long col_entry_signal_call(long signo, long action, long old);

#endif
