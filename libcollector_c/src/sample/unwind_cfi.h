/* unwind_cfi.h -- unwind tables: from the registers of a frame to those of its caller */
#ifndef COL_SAMPLE_UNWIND_CFI_H
#define COL_SAMPLE_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/safe_read.h"
#include "sample/unwind_cache.h"
#include "sample/unwind_row.h"
#include "target/eh_frame.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. DWARF 5, section 6.4. */

/* The row as an eight-byte rule. */
col_unwind_rule col_unwind_cfi_pack(const struct col_eh_fde *fde, const struct col_unwind_row *row);

enum col_unwind_cfi_answer {
    COL_CFI_DONE,
    COL_CFI_OUTERMOST,
    COL_CFI_UNREADABLE,         /* a saved register lies in memory that cannot be read */
    COL_CFI_REGISTER_NOT_KNOWN, /* the row needs a register that was not followed up to this frame */
    COL_CFI_NOT_SENSIBLE,
};

/* A frame on the way: registers, and a bit for each of regs->dwarf that is known to be this frame's. */
struct col_unwind_cfi_frame {
    struct col_regs *regs;
    uint64_t known;
};

/*
 * Goes to the caller: replaces the frame's registers, pc, sp and fp included. *sp_is_saved says that the stack
 * pointer was not simply the CFA: the caller may be on another stack.
 */
enum col_unwind_cfi_answer col_unwind_cfi_apply(const struct col_eh_fde *fde, const struct col_unwind_row *row,
                                                struct col_stack_reader *reader, struct col_unwind_cfi_frame *frame,
                                                bool *sp_is_saved);

#endif
