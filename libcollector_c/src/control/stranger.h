/* stranger.h -- the account of a process that a bare system call made */
#ifndef COL_CONTROL_STRANGER_H
#define COL_CONTROL_STRANGER_H

#include <sys/types.h>

#include "control/options.h"

/*
 * The end of such a process: makes a log that says that it was there and what it used. All it did is lost; to begin a session would take locks that its maker may have
 * held when it was copied. `next_path`: the program it becomes, or NULL. Signal-safe.
 */
void col_stranger_close(const struct col_options *options, pid_t maker, pid_t pid, unsigned reason,
                        const char *next_path);

#endif
