/* unwind_cfi.h -- unwind tables: from the registers of a frame to those of its caller */
#ifndef COL_SAMPLE_UNWIND_CFI_H
#define COL_SAMPLE_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/safe_read.h"
#include "sample/unwind_cache.h"
#include "target/eh_frame.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. DWARF 5, section 6.4. */

enum col_cfi_kind {
    COL_CFI_SAME,             /* keeps its value; the stack pointer: is the CFA */
    COL_CFI_UNDEFINED,        /* lost; the return address: nobody called this */
    COL_CFI_AT_OFFSET,        /* saved at CFA + value */
    COL_CFI_IS_OFFSET,        /* is CFA + value */
    COL_CFI_IN_REGISTER,      /* is in register `value` */
    COL_CFI_AT_EXPRESSION,    /* saved where the expression says */
    COL_CFI_IS_EXPRESSION,    /* is what the expression says */
};

/* Where the caller's value of a register is. An expression is kept as its distance from the FDE. */
struct col_cfi_place {
    int32_t value;
    uint8_t kind;
};

/* The row of the unwind table for one address. */
struct col_cfi_row {
    int32_t cfa_offset; /* or the expression's distance from the FDE */
    uint8_t cfa_register;
    bool cfa_is_expression;
    struct col_cfi_place saved[COL_ARCH_SAVED_COUNT]; /* in the order of col_arch_saved */
};

/* The row for `pc`, which the FDE covers. False when its instructions are damaged or beyond us. */
bool col_cfi_find_row(const struct col_eh_fde *fde, uintptr_t pc, struct col_cfi_row *row);

/* The row as an eight-byte rule. */
col_unwind_rule col_cfi_pack(const struct col_eh_fde *fde, const struct col_cfi_row *row);

enum col_cfi_answer {
    COL_CFI_DONE,
    COL_CFI_OUTERMOST,
    COL_CFI_UNREADABLE,         /* a saved register lies in memory that cannot be read */
    COL_CFI_REGISTER_NOT_KNOWN, /* the row needs a register that was not followed up to this frame */
    COL_CFI_NOT_SENSIBLE,
};

/* A frame on the way: registers, and a bit for each of regs->dwarf that is known to be this frame's. */
struct col_cfi_frame {
    struct col_regs *regs;
    uint64_t known;
};

/*
 * Goes to the caller: replaces the frame's registers, pc, sp and fp included. *sp_is_saved says that the stack
 * pointer was not simply the CFA: the caller may be on another stack.
 */
enum col_cfi_answer col_cfi_apply(const struct col_eh_fde *fde, const struct col_cfi_row *row,
                                  struct col_stack_reader *reader, struct col_cfi_frame *frame, bool *sp_is_saved);

#endif
