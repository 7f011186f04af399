/* wait_cause.h -- what a thread waits for, as far as its system call and the descriptor tell */
#ifndef COL_BASE_WAIT_CAUSE_H
#define COL_BASE_WAIT_CAUSE_H

#include <stdbool.h>

enum col_wait_cause {
    COL_WAIT_UNKNOWN,
    COL_WAIT_LOCK,
    COL_WAIT_GIL, /* the global interpreter lock of CPython */
    COL_WAIT_TIMER,
    COL_WAIT_EVENTS, /* of several files: poll, select, epoll */
    COL_WAIT_SOCKET,
    COL_WAIT_PIPE,
    COL_WAIT_FILE,
    COL_WAIT_TERMINAL,
    COL_WAIT_CHILD,
    COL_WAIT_SIGNAL,
    COL_WAIT_MESSAGE, /* queues and semaphores of System V and POSIX */
    COL_WAIT_PAGE,
    COL_WAIT_OTHER,
    COL_WAIT_CAUSES
};

/* From anywhere, signal handlers included. */

const char *col_wait_cause_name(enum col_wait_cause cause);

/* Of a system call by its number on this processor. Where its first argument is a descriptor that tells, COL_WAIT_FILE: the second function knows better. */
enum col_wait_cause col_wait_cause_of_call(long call);
bool col_wait_cause_is_of_descriptor(long call);

/* Of a descriptor, of /proc's directory of descriptors, from where its entry leads: `directory` is "/proc/PID/fd". What that leads to, perhaps on a file system that does not
   answer, is not touched. */
enum col_wait_cause col_wait_cause_of_descriptor(const char *directory, unsigned descriptor);

#endif
