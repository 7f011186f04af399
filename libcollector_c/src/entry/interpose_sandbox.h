/* interpose_sandbox.h -- system calls made through syscall(2) by which a program enters seccomp, redirects its calls, or is traced */
#ifndef COL_ENTRY_INTERPOSE_SANDBOX_H
#define COL_ENTRY_INTERPOSE_SANDBOX_H

#include <stdbool.h>

/* True for a call that the second function must make. It answers as syscall(2) does. */
bool col_entry_is_sandbox_call(long number, long a, long b);
long col_entry_sandbox_call(long number, long a, long b, long c, long d, long e);

#endif
