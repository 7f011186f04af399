/* launcher.h -- what a process asks of `collector record`, which can hold perf events open for it */
#ifndef COL_TARGET_LAUNCHER_H
#define COL_TARGET_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A perf event ticks as long as anybody has it open. The launcher does, so that the program's table of descriptors stays the program's own.
 * Without a launcher, or with one that has died, every request fails at once.
 */
#define COL_LAUNCHER_VARIABLE "COLLECTOR_LAUNCHER" /* its address; see collector/capture/event_holder.py */

/* `address` is the value of that variable, or NULL; `experiment` is the directory. Ordinary code, before the first request. */
void col_launcher_remember(const char *address, const char *experiment);

/* All of what follows is signal-safe. */

/*
 * Gives the launcher a copy of `fd`, which it closes when this process has ended, or earlier when `thread` has, or has given another one for the same use. Thread 0
 * stands for the whole process: its event takes the place of all before. Never waits. 0, and the caller closes its own; or -errno, and nobody but the caller has it.
 */
int col_launcher_hold(int fd, uint32_t thread, unsigned use);

/* Tells the launcher that this process can make no log, because of `error`, -errno: who is of another user can leave no word in the directory. Never waits. */
void col_launcher_note_no_log(int error);

/* How long to wait for a launcher that lives, which on a busy machine has to get a processor first: of one that has died the end is seen at once. */
#define COL_LAUNCHER_PATIENCE_MS 2000

/*
 * Has the launcher disable all events it holds for this process, until nobody traces it any more. True when that has been done; waits for it, `patience_ms` at most.
 */
bool col_launcher_suspend(int patience_ms);

/*
 * Has the launcher close the events of a use that it holds for a thread of this process; 0: for all of them. Never waits: it takes 10 ms, unless the launcher is starved.
 */
void col_launcher_close(uint32_t thread, unsigned use);

/* Has the launcher disable and close all events it holds for this process. True when that has been done; waits for it, `patience_ms` at most. */
bool col_launcher_release(int patience_ms);

#endif
