/* silence.h -- whether a system call of ours could kill: which threads have to keep silent, and which filters are known to let us through */
#ifndef COL_CONTROL_SILENCE_H
#define COL_CONTROL_SILENCE_H

#include <stdbool.h>

/*
 * A thread is silent when a system call of ours could kill it: no hook, handler or exit of ours makes any. Threads and processes that it makes are silent as well.
 * One load from thread-local storage and one from memory; from anywhere.
 */
bool col_silence_is_on(void);

/* The calling thread, or the whole process, keeps silent from here on, or no longer. Signal-safe. */
void col_silence_begin(bool is_for_all);
void col_silence_end(bool is_for_all);

/* A vfork child has entered a filter under which we could not call: the next exec is taken for its own. */
void col_silence_note_child(void);

/* A thread begins, made by a silent one. */
void col_silence_inherit(bool is_silent);

/* A fork child that is not silent. */
void col_silence_after_fork(void);

/*
 * This image has just begun. False: it runs under a filter that nobody has judged, and no system call of ours is safe. The environment tells how many filters are
 * known; those that the first image of a recording began with are. Ordinary code.
 */
bool col_silence_is_known(void);

/* The entry of the environment that tells the images that come after this one how many are known; the text changes in place. */
char *col_silence_known(void);

/* One filter more, or one less, was judged and lets us through. */
void col_silence_count_known(int difference);

/* Whether there is any filter that is known. */
bool col_silence_has_filters(void);

#define COL_SILENCE_VARIABLE "COLLECTOR_SECCOMP"

/* The call that runs another program: true if it may have none of our environment, because it is, or may be, made under a filter that would kill us there. */
bool col_silence_withholds(void);

#endif
