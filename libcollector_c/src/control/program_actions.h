/* program_actions.h -- the actions that the program set for signals that we handle in its place */
#ifndef COL_CONTROL_PROGRAM_ACTIONS_H
#define COL_CONTROL_PROGRAM_ACTIONS_H

#include <signal.h>
#include <stdbool.h>

/* From anywhere. A child of vfork runs in its parent's memory: what it sets is kept for it alone. */
struct sigaction col_program_actions_get(int signo);
void col_program_actions_put(int signo, const struct sigaction *action);

/* As the process begins: the signal is one that we handle from now on, and this is what the program has set for it. */
void col_program_actions_take(int signo, const struct sigaction *before);

/* This process, and no child of vfork: at the start, and in a child of fork. */
void col_program_actions_adopt(void);

/* Whether the caller is this process, and no child of vfork. */
bool col_program_actions_are_own(void);

/* A child of vfork calls exec, and needs nothing any more; or exec has failed, and it does. Nothing in other processes. */
void col_program_actions_leave(void);
void col_program_actions_return(void);

#endif
