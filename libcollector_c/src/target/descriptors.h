/* descriptors.h -- descriptors of ours in the program's table, which it does not know of */
#ifndef COL_TARGET_DESCRIPTORS_H
#define COL_TARGET_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Where the launcher holds perf events there are none. Those that must stay lie at high numbers, out of the way of programs that count on the lowest free one,
 * and functions of the close family pass over them. The program can still close or replace one by a bare system call: so before one is used or closed
 * it is looked at, and if it is another file by now it is forgotten.
 */

/* All of this is signal-safe. */

/* The handle of an event that the launcher holds. No descriptor is behind it. */
#define COL_DESCRIPTORS_ELSEWHERE 0x10000

/*
 * Takes over a fresh perf event: passes it to the launcher (`thread` and `use` as in target/launcher.h), or if there is none moves it to a high number. Returns a handle,
 * -errno if there is no room; `fd` is closed in any case.
 */
int col_descriptors_hand_over(int fd, uint32_t thread, unsigned use);

/* A copy at a high number, which is nobody's yet; or -errno. */
int col_descriptors_copy_high(int fd);

/* Moves a fresh descriptor to a high number and closes `fd`. Returns a handle, under which the descriptor can be found wherever it has been moved to since; -errno. */
int col_descriptors_adopt(int fd);

/* The descriptor behind a handle; -1 if there is none. */
int col_descriptors_current(int handle);

/* Forgets and closes; a handle of -1 is nothing. */
void col_descriptors_close(int handle);

bool col_descriptors_owns(int fd);

/* The program wants this number for itself: ours gets another one. */
void col_descriptors_evade(int fd);

/* The next of ours at or above `fd`; -1 if there is none. */
int col_descriptors_next(int fd);

void col_descriptors_close_all(void);

#endif
