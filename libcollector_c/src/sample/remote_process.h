/* remote_process.h -- stacks of another process's threads, from outside */
#ifndef COL_SAMPLE_REMOTE_PROCESS_H
#define COL_SAMPLE_REMOTE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sample/recording_turns.h"

/*
 * From one thread at a time, and from ordinary code. The process is neither stopped nor told: what it does meanwhile may tear the stack. A caller who
 * looks at a thread that waits must make sure afterwards that it waited all the time, or throw away what he got.
 */

struct col_remote_process;

/* NULL: no memory. Nothing is read until the first walk. */
struct col_remote_process *col_remote_open(pid_t pid);
void col_remote_close(struct col_remote_process *process);

/* The process runs another program, or has other code than before: what is known of its code is forgotten. */
void col_remote_changed(struct col_remote_process *process);

/* As /proc/PID/task/TID/syscall has them for a thread that waits: without fp. */
struct col_remote_registers {
    uintptr_t pc, sp, fp;
    bool has_fp;
};

/*
 * Writes the stack into pcs[0 .. most-1], leaf first, as col_unwind_walk_deep does (sample/unwind.h), and returns how many frames; 0 if the memory
 * cannot be read. *end is of enum col_stack_end; only COMPLETE, GUESSED and DEPTH_LIMIT stand for stacks that come from the start of the thread. `most`
 * is even, and 4096 at most.
 *
 * Among them are the Python functions of the thread, of CPython 3.11 and later, put between the frames that run them (sample/python_stack.h). They are told to the log of the
 * calling process when they are first met, as code at addresses that no other process's functions have there.
 */
size_t col_remote_python(struct col_remote_process *process, pid_t thread, const struct col_remote_registers *registers,
                         uintptr_t *pcs, size_t most, unsigned *end);

/* As the process has it itself, as far as the last walk found it (sample/recording_turns.h); false: it has none, or cannot be read. */
bool col_remote_turns(struct col_remote_process *process, struct col_recording_turns *turns);

/* True if the word is of the global interpreter lock, by the last walk of that kind. */
bool col_remote_is_gil(const struct col_remote_process *process, uintptr_t address);

#endif
