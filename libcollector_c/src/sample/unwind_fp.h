/* unwind_fp.h -- leaving a frame for which there is no unwind table */
#ifndef COL_SAMPLE_UNWIND_FP_H
#define COL_SAMPLE_UNWIND_FP_H

#include <stdbool.h>

#include "base/arch.h"
#include "base/safe_read.h"

enum col_unwind_leaving {
    COL_LEFT_NOT, /* nothing there looks like a return address */
    COL_LEFT,
    COL_LEFT_BY_GUESS, /* by a word on the stack that looks like one */
};

/*
 * CALLABLE FROM ANYWHERE, signal handlers included. Goes to the caller by the chain of frame pointers, or, where the
 * code was interrupted (`is_exact`), by what its next instruction and the word at the stack pointer give away. Sets
 * regs->pc, sp and fp.
 */
enum col_unwind_leaving col_unwind_fp_step(struct col_regs *regs, struct col_stack_reader *reader,
                                           struct col_proved_pages *proved, bool is_exact);

#endif
