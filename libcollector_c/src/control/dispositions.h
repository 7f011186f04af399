/* dispositions.h -- what the program set for signals that we handle in its place, and what it is shown of them */
#ifndef COL_CONTROL_DISPOSITIONS_H
#define COL_CONTROL_DISPOSITIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* From anywhere, signal handlers and vfork children included. */

/* `signo` has a handler of ours from now on. `before`: what was installed. `is_clock`: it has a surrogate. Ordinary code, before the handlers run. */
void col_dispositions_take(int signo, const struct sigaction *before, bool is_clock);
bool col_dispositions_has_taken(int signo);

/* The mask that the process began with becomes what the program believes. Once all signals are taken. */
void col_dispositions_begin(void);

/* As sigaction(2), for any signal; either action may be NULL. */
int col_dispositions_change(int signo, const struct sigaction *action, struct sigaction *old);

/* The program has an alternate stack with no room for a tick on top of its handlers: those that run there block the clocks' signals from now on. */
void col_dispositions_spare_alternate_stack(void);

/* Sets of the program as the kernel is to have them, and the other way. A set that names a surrogate of ours makes us choose another one. */
void col_dispositions_mask_to_kernel(int how, sigset_t *set,
                                     bool is_spared); /* for sigprocmask(2); spared: from ticks */
void col_dispositions_set_to_kernel(sigset_t *set);   /* for waits and the masks they set meanwhile */
void col_dispositions_set_to_program(sigset_t *set, uint64_t believed);

/* The signal's default is death: die of it, so that whoever waits sees the truth. In its handler. */
void col_dispositions_die(int signo);

/*
 * The kernel's state becomes what the program believes, for a new image or a child of the C library's to inherit; and ours again. Between the two nothing
 * but the call it is for may be done. `with_pending`: signals that wait are handed on as well.
 */
void col_dispositions_uncover(bool with_pending);
void col_dispositions_cover(void);

#endif
