/* unwind_row.h -- the row of an unwind table that holds at one address */
#ifndef COL_SAMPLE_UNWIND_ROW_H
#define COL_SAMPLE_UNWIND_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "target/eh_frame.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. DWARF 5, section 6.4. */

enum col_unwind_register_kind {
    COL_REGISTER_SAME,          /* keeps its value; the stack pointer: is the CFA */
    COL_REGISTER_UNDEFINED,     /* lost; the return address: nobody called this */
    COL_REGISTER_AT_OFFSET,     /* saved at CFA + value */
    COL_REGISTER_IS_OFFSET,     /* is CFA + value */
    COL_REGISTER_IN_REGISTER,   /* is in register `value` */
    COL_REGISTER_AT_EXPRESSION, /* saved where the expression says */
    COL_REGISTER_IS_EXPRESSION, /* is what the expression says */
};

/* Where the caller's value of a register is. An expression is kept as its distance from the FDE. */
struct col_unwind_register {
    int32_t value;
    uint8_t kind;
};

/* The row of the unwind table for one address. */
struct col_unwind_row {
    int32_t cfa_offset; /* or the expression's distance from the FDE */
    uint8_t cfa_register;
    bool cfa_is_expression;
    struct col_unwind_register saved[COL_ARCH_SAVED_COUNT]; /* in the order of col_arch_saved */
};

/* The row for `pc`, which the FDE covers. False when its instructions are damaged or beyond us. */
bool col_unwind_row_find(const struct col_eh_fde *fde, uintptr_t pc, struct col_unwind_row *row);

#endif
