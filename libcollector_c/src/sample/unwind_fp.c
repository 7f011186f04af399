/* unwind_fp.c -- leaving a frame for which there is no unwind table */
#include "sample/unwind_fp.h"

#include "sample/unwind_code.h"
#include "target/code_finder.h"

enum {
    LONGEST_FRAME_BYTES = 1 << 20,
    LONGEST_FUNCTION_BYTES = 1 << 14, /* from a leaf function's start to where it was interrupted */
    SCANNED_PLACES = 64,
    GUESSED_PLACES = 2, /* where a call's address is believed though its target is not known */
};

static bool leave_to(struct col_regs *regs, const struct col_arch_caller *caller)
{
    regs->pc = caller->pc;
    regs->sp = caller->sp;
    regs->fp = caller->fp;
    return true;
}

/* The frame record is two words: the caller's frame pointer, the return address. */
static bool leave_by_record(struct col_regs *regs, struct col_stack_reader *reader, struct col_proved_pages *proved)
{
    struct col_arch_caller caller = {0, regs->fp + 2 * sizeof caller.sp, 0};
    uintptr_t record = regs->fp;
    if (record < regs->sp || record - regs->sp > LONGEST_FRAME_BYTES || record % sizeof record != 0)
        return false;
    if (!col_safe_read_stack(reader, record, &caller.fp) ||
        !col_safe_read_stack(reader, record + sizeof record, &caller.pc))
        return false;
    caller.pc = col_arch_strip_return(caller.pc);
    /* A thread's first function may have been given 0 to return to. */
    return (caller.pc == 0 || col_code_finder_is_code_in(proved->memory, caller.pc - 1)) && leave_to(regs, &caller);
}

/* True when a call to a place a little before pc returns to `return_address`: then that is the function. */
static bool is_called_from(struct col_proved_pages *proved, uintptr_t pc, uintptr_t return_address)
{
    uintptr_t function = col_arch_called_address(proved, return_address);
    return function != 0 && pc - function < LONGEST_FUNCTION_BYTES;
}

/* True when the frame record lies below the place where the caller's stack begins: then the return address is in it. */
static bool is_behind_record(const struct col_regs *regs, const struct col_arch_caller *caller)
{
    return regs->fp >= regs->sp && regs->fp < caller->sp - sizeof caller->sp;
}

/* True when a frame pointer may point there, from below caller->sp. */
static bool is_above(const struct col_arch_caller *caller, uintptr_t fp)
{
    return fp >= caller->sp && fp - caller->sp <= LONGEST_FRAME_BYTES && fp % sizeof fp == 0;
}

/* Compiled Java keeps any value in the frame pointer's register, and the caller's below the return address. */
static void find_fp(struct col_stack_reader *reader, struct col_arch_caller *caller)
{
    uintptr_t word;
    if (!is_above(caller, caller->fp) && col_safe_read_stack(reader, caller->sp - 2 * sizeof word, &word) &&
        is_above(caller, word))
        caller->fp = word;
}

/* Looks for the return address itself. A guess is believed when it is the only sort of evidence left. */
static bool leave_by_return_address(struct col_regs *regs, struct col_stack_reader *reader,
                                    struct col_proved_pages *proved, bool may_guess)
{
    struct col_arch_caller caller;
    for (unsigned place = 0; place < COL_ARCH_RETURN_PLACES; place++)
        if (col_arch_caller_by_place(regs, reader, place, &caller) && !is_behind_record(regs, &caller) &&
            col_unwind_code_is_return_address(caller.pc, proved) &&
            ((may_guess && place < GUESSED_PLACES) || is_called_from(proved, regs->pc, caller.pc))) {
            find_fp(reader, &caller);
            return leave_to(regs, &caller);
        }
    return false;
}

/* The last resort for a function whose last instruction was a call that does not come back: what follows is no code of its
   own. A call through a pointer can have led to anything. */
static bool leave_by_scan(struct col_regs *regs, struct col_stack_reader *reader, struct col_proved_pages *proved)
{
    struct col_arch_caller caller;
    for (unsigned place = 0; COL_ARCH_RETURN_PLACES > 1 && place < SCANNED_PLACES; place++)
        if (col_arch_caller_by_place(regs, reader, place, &caller) &&
            col_unwind_code_is_return_address(caller.pc, proved) && col_arch_called_address(proved, caller.pc) == 0)
            return leave_to(regs, &caller);
    return false;
}

enum col_unwind_leaving col_unwind_fp_step(struct col_regs *regs, struct col_stack_reader *reader,
                                           struct col_proved_pages *proved, bool is_exact)
{
    struct col_arch_caller caller;
    if (is_exact && col_arch_caller_by_code(regs, reader, proved, &caller) &&
        col_unwind_code_is_return_address(caller.pc, proved))
        return leave_to(regs, &caller), COL_LEFT;
    if (is_exact && leave_by_return_address(regs, reader, proved, false))
        return COL_LEFT_BY_GUESS;
    if (leave_by_record(regs, reader, proved))
        return COL_LEFT;
    bool is_found =
        is_exact ? leave_by_return_address(regs, reader, proved, true) : leave_by_scan(regs, reader, proved);
    return is_found ? COL_LEFT_BY_GUESS : COL_LEFT_NOT;
}
