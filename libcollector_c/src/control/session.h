/* session.h -- what we are doing now: the only order of start and stop */
#ifndef COL_CONTROL_SESSION_H
#define COL_CONTROL_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "control/options.h"

/*
 *   idle ──open──▶ recording ◀──pause/resume──▶ paused
 *                      └────────── close ──────────┴──▶ closed
 *
 * A fork child begins its own session in the state its parent was in; exec ends the session of the image it leaves.
 */

/* ======== FROM ANYWHERE, SIGNAL HANDLERS INCLUDED ======== */

/* True while there is a log that events may go to, paused or not. One load. */
bool col_session_is_open(void);

/* Both do nothing when there is nothing to change. `cause`: COL_PAUSE_... */
void col_session_pause(unsigned cause);
void col_session_resume(unsigned cause);

/* Pauses what runs, resumes what is paused; false if there is no experiment. */
bool col_session_toggle(unsigned cause);

/* True in a process that a bare system call made as a copy of this one: no hook saw it begin. False in a child of vfork. Two loads. */
bool col_session_is_stranger(void);

/* A sample point. Of concurrent calls one is written. `cause`: COL_SAMPLE_... */
void col_session_sample(const char *label, unsigned cause);

/* `path` is about to be run, or runs, as process `pid`, in which nothing is recorded for `reason`. From vfork children too. */
void col_session_note_unrecorded(pid_t pid, const char *path, const char *reason);

/* Ends the experiment of this process; `reason`: COL_CLOSE_... Later calls of anything here do nothing. */
void col_session_close(unsigned reason);

/* True once the program has ended its experiment by collector_terminate_expt: nothing that it runs from then on is recorded. One load. */
bool col_session_is_terminated(void);

/* ======== FROM ORDINARY CODE ======== */

/* Reads the options; NULL if they ask for nothing. Then open begins; in between the handlers must be put in place. Once, before main. */
const struct col_options *col_session_prepare(void);
void col_session_open(int argc, char **argv);

/* Begins the session of such a process. Where the program itself is about to allocate memory, so that no lock of its maker can be in the way. */
void col_session_adopt(void);

/* Around fork, in this order; the child's session is its own. */
void col_session_fork_prepare(void);
void col_session_fork_parent(void);
void col_session_fork_child(void);

/* exec is about to replace the image with `path`: closes the log. If exec comes back, revive begins the next one, paused if the last one was. */
void col_session_exec_leave(const char *path);
void col_session_exec_revive(void);

/* The process this session belongs to; another one means we run in a vfork child. */
pid_t col_session_pid(void);

/* Threads of the program, in themselves. */
void col_session_thread_begin(uintptr_t start_address);
void col_session_thread_end(void);

/* A thread that was ended goes on after all. */
void col_session_thread_return(void);

#endif
