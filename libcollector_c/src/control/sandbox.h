/* sandbox.h -- the program enters seccomp, or redirects its system calls: recording goes on where that allows it, and falls silent first where it does not */
#ifndef COL_CONTROL_SANDBOX_H
#define COL_CONTROL_SANDBOX_H

#include <linux/filter.h>
#include <stdbool.h>

/* What becomes of the calling thread, or of all of them. */
enum col_sandbox_step {
    COL_SANDBOX_UNCHANGED,     /* this process was never recorded, or not this one entered */
    COL_SANDBOX_ALLOWED,       /* recording goes on */
    COL_SANDBOX_THREAD_SILENT, /* its recording has ended */
    COL_SANDBOX_CLOSED,        /* the log was closed */
    COL_SANDBOX_MARKED         /* nothing was being recorded */
};

/*
 * The thread is about to enter seccomp: strict mode (`filter` is NULL), or a filter, for itself or for all threads. Whatever the answer is, the kernel must be asked next,
 * and if it refuses, undo is called with the answer. Keeps errno. From anywhere.
 */
enum col_sandbox_step col_sandbox_enter(const struct sock_fprog *filter, bool is_for_all);

/* The same for a thread whose system calls will come to a handler of the program (syscall user dispatch), the end of signal handlers among them. */
enum col_sandbox_step col_sandbox_redirect(void);
void col_sandbox_undo(enum col_sandbox_step step);

#endif
