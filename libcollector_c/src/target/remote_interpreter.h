/* remote_interpreter.h -- the CPython in another process, if there is one */
#ifndef COL_TARGET_REMOTE_INTERPRETER_H
#define COL_TARGET_REMOTE_INTERPRETER_H

#include <stdbool.h>
#include <sys/types.h>

#include "target/python_runtime.h"

/* Ordinary code, one thread at a time. */

/* Looks for it in the modules that are known. `owner` is a number of the process that no other ever had. False: there is none from 3.11 on whose frames can be read. */
bool col_remote_interpreter_find(struct col_remote_memory *memory, uint64_t owner, struct col_python_runtime *found);

/* The state of the thread with this id, 0: it has none, as when it never ran Python. `hint` is one that it had before, or 0. */
uintptr_t col_remote_interpreter_state(const struct col_python_runtime *python, pid_t thread, uintptr_t hint);

#endif
