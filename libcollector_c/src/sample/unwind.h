/* unwind.h -- the call stack of the code that a signal interrupted */
#ifndef COL_SAMPLE_UNWIND_H
#define COL_SAMPLE_UNWIND_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/safe_read.h" /* struct col_stack_bounds */
#include "sample/unwind_cache.h"
#include "sample/unwind_frames.h"

/*
 * CALLABLE FROM ANYWHERE, signal handlers included. Never faults, whatever the registers are; needs less than 2 KB of
 * stack. It reads the unwind tables of loaded modules: who unloads one must wait until no walk is under way, and then
 * say so by col_unwind_forget_modules.
 */

/*
 * Writes the stack into pcs[0 .. max-1], innermost first, and returns how many; at least 1 when max is.
 *
 * pcs[0] is the interrupted pc itself. For every later i, pcs[i] - 1 lies in the instruction that frame stands for:
 * return addresses are stored as they are; a frame that was entered without a call (interrupted by a signal and found
 * below its trampoline; the trampoline itself; the first function of a coroutine) as its next instruction + 1.
 *
 * sps[i], if wanted, is the stack pointer in frame i: its part of the stack ends where that of frame i + 1 begins.
 * `bounds` is the calling thread's and may be NULL; see struct col_stack_bounds.
 */
size_t col_unwind_walk(const ucontext_t *context, struct col_stack_bounds *bounds, uintptr_t *pcs, uintptr_t *sps,
                       size_t max, enum col_stack_end *end);

/*
 * The same for a thread whose stacks may be deeper than `max`, an even number: pcs then holds max / 2 frames nearest to the root, COL_FRAMES_LEFT_OUT
 * (sample/unwind_frames.h) in place of the frames between, and at least max / 4 nearest to the leaf: fewer than there is room for if `sps` tells
 * a place to begin that the thread's next walk will find, too. `deep` is the thread's, all zero at first. The end is DEPTH_LIMIT, and pcs the
 * leaf's part alone, where the root was not reached in the time that a walk may take.
 */
size_t col_unwind_walk_deep(const ucontext_t *context, struct col_stack_bounds *bounds, struct col_deep_stack *deep,
                            uintptr_t *pcs, uintptr_t *sps, size_t max, enum col_stack_end *end);

/* Where a walk over a stack of another process begins, and where it has ended. */
struct col_unwind_remote {
    struct col_remote_memory *memory;
    struct col_unwind_rules rules;       /* of the process */
    const struct col_java_runtime *java; /* in it; NULL: none */
    struct col_stack_mark leaf;
    struct col_stack_mark last; /* the frame that it did not get beyond, if it is not the first of its thread */
};

/* The same from outside the process: not from handlers. Its registers other than pc, sp and fp are not known. */
size_t col_unwind_walk_remote(struct col_unwind_remote *remote, uintptr_t *pcs, uintptr_t *sps, size_t max,
                              enum col_stack_end *end);

/* After dlclose, and after col_code_finder_remove_frames: rules of code that is gone are not used again. From any
   thread, at any time, also while others walk. */
void col_unwind_forget_modules(void);

#endif
