/* unwind_fp.c -- leaving a frame for which there is no unwind table */
#include "sample/unwind_fp.h"

#include "target/code_finder.h"

enum {
    LONGEST_FRAME_BYTES = 1 << 20,
    LONGEST_FUNCTION_BYTES = 1 << 14, /* from a leaf function's start to where it was interrupted */
};

static bool is_return_address(uintptr_t address)
{
    return col_code_finder_is_code(address - 1) && col_arch_follows_call(address);
}

static bool leave_to(struct col_regs *regs, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
    regs->pc = pc;
    regs->sp = sp;
    regs->fp = fp;
    return true;
}

/* The frame record at `record` is {caller's fp, return address}. */
static bool leave_by_record(struct col_regs *regs, struct col_stack_reader *reader, uintptr_t record)
{
    uintptr_t fp, return_address;
    if (record < regs->sp || record - regs->sp > LONGEST_FRAME_BYTES || record % sizeof record != 0)
        return false;
    if (!col_safe_read_stack(reader, record, &fp)
        || !col_safe_read_stack(reader, record + sizeof record, &return_address))
        return false;
    return_address = col_arch_strip_return(return_address);
    /* A thread's first function may have been given 0 to return to. */
    if (return_address != 0 && !col_code_finder_is_code(return_address - 1))
        return false;
    return leave_to(regs, return_address, record + 2 * sizeof record, fp);
}

/* True when a direct call to a place a little before pc returns to `return_address`: then that is the function. */
static bool is_called_from(uintptr_t pc, uintptr_t return_address)
{
    uintptr_t function = col_arch_called_address(return_address);
    return function != 0 && pc - function < LONGEST_FUNCTION_BYTES;
}

bool col_unwind_fp_step(struct col_regs *regs, struct col_stack_reader *reader, bool is_exact)
{
    uintptr_t return_address, caller_sp;
    if (!is_exact)
        return leave_by_record(regs, reader, regs->fp);

    enum col_arch_frame_record progress = col_arch_frame_record_at(regs->pc);
    bool may_be_leaf = col_arch_leaf_return(regs, reader, &return_address, &caller_sp)
                       && is_return_address(return_address);
    if (may_be_leaf && (progress == COL_ARCH_RECORD_ABSENT || is_called_from(regs->pc, return_address)))
        return leave_to(regs, return_address, caller_sp, regs->fp);
    if (progress == COL_ARCH_RECORD_AT_SP && leave_by_record(regs, reader, regs->sp))
        return true;
    if (leave_by_record(regs, reader, regs->fp))
        return true;
    return may_be_leaf && leave_to(regs, return_address, caller_sp, regs->fp);
}
