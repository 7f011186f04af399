/* unwind_expression.h -- the little stack machine inside unwind tables */
#ifndef COL_SAMPLE_UNWIND_EXPRESSION_H
#define COL_SAMPLE_UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/cursor.h"
#include "base/safe_read.h"

/* What an expression may ask for. */
struct col_unwind_expression_scene {
    const struct col_regs *regs;
    uint64_t known; /* which of regs->dwarf are this frame's */
    struct col_stack_reader *reader;
};

/*
 * CALLABLE FROM ANYWHERE, signal handlers included. Evaluates the expression that `block` begins with (a length,
 * then as many bytes). `initial`, when not NULL, is on the stack to begin with. False when it asks for something unknown
 * or unreadable, is longer than the block, or does not come to an end. DWARF 5, section 2.5.
 */
bool col_unwind_expression_evaluate(const struct col_unwind_expression_scene *scene, struct col_cursor block,
                                    const uintptr_t *initial, uintptr_t *result);

#endif
