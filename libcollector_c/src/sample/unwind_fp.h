/* unwind_fp.h -- leaving a frame for which there is no unwind table */
#ifndef COL_SAMPLE_UNWIND_FP_H
#define COL_SAMPLE_UNWIND_FP_H

#include <stdbool.h>

#include "base/arch.h"
#include "base/safe_read.h"

/*
 * CALLABLE FROM ANYWHERE, signal handlers included. Goes to the caller by the chain of frame pointers, or, where the
 * code was interrupted (`is_exact`), by what its next instruction and the word at the stack pointer give away. Sets
 * regs->pc, sp and fp. False when nothing there looks like a return address.
 */
bool col_unwind_fp_step(struct col_regs *regs, struct col_stack_reader *reader, bool is_exact);

#endif
