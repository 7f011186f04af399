/* executable_mappings.h -- code that belongs to no module: what just-in-time compilers made */
#ifndef COL_TARGET_EXECUTABLE_MAPPINGS_H
#define COL_TARGET_EXECUTABLE_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * CALLABLE FROM ANYWHERE, signal handlers included. True when the address lies in an executable mapping, as far as is
 * known. With `may_read`, an unknown address makes it read /proc/self/maps again, which opens and closes a
 * descriptor, unless that was done too recently; the answer may then lag behind the program, either way.
 */
bool col_executable_mappings_cover(uintptr_t address, bool may_read);

/*
 * Who wants to know of every executable mapping that a reading finds; set before the first. It is called as the question is asked: in a signal handler; where that has
 * less than `room_bytes` of stack left, by a later reading of a thread that has more.
 */
void col_executable_mappings_observe(void (*met)(uintptr_t start, uintptr_t end, uint64_t file_offset),
                                     size_t room_bytes);

/* True if anybody has asked here: code that belongs to no module ran, or seemed to. */
bool col_executable_mappings_were_asked(void);

/* In the child after fork: a reading that another thread had begun will not be finished. */
void col_executable_mappings_after_fork(void);

#endif
