/* unwind_code.h -- leaving a frame by following its instructions to where they return */
#ifndef COL_SAMPLE_UNWIND_CODE_H
#define COL_SAMPLE_UNWIND_CODE_H

#include <stdbool.h>

#include "base/arch.h"
#include "base/instruction.h"
#include "sample/unwind_cache.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. */

/* Where a function returns, by what sp and fp are in the frame. */
struct col_code_exit {
    struct col_stack_place return_at; /* the return address */
    struct col_stack_place fp;        /* the caller's frame pointer, if it was restored */
    bool fp_is_restored;
    bool
        is_certain; /* no call lies on the way: it might have been one that never comes back, and what follows other code */
    unsigned released; /* bytes that go off the stack with the return address */
};

/* What one walk may spend on code: instructions followed and words looked at, about 5 ns each. */
enum { COL_CODE_BUDGET = 30000 };

/* True when instructions from pc on lead to a return, and there is a return address where it would find one. */
bool col_unwind_code_find_exit(const struct col_regs *regs, struct col_stack_reader *reader,
                               struct col_proved_pages *proved, unsigned *budget, struct col_code_exit *exit);

/*
 * For functions that are not seen to return: looks for a word on the stack that is the return address of a call to a
 * function whose first instructions make a frame that reaches just to that word. Some 10 us where there is none.
 */
bool col_unwind_code_find_entry(const struct col_regs *regs, struct col_stack_reader *reader,
                                struct col_proved_pages *proved, unsigned *budget, struct col_code_exit *exit);

/*
 * True within a function that goes to another stack, as swapcontext(3) does, once it has loaded sp: its table still speaks of the stack before, but from here
 * on it only loads registers, pushes where that stack was left, and returns there.
 */
bool col_unwind_code_is_switch(uintptr_t pc, struct col_proved_pages *proved);

/* Leaves such a frame. False if below sp lies no return address: then nobody has left this stack by a call. */
bool col_unwind_code_leave_switch(struct col_regs *regs, struct col_stack_reader *reader,
                                  struct col_proved_pages *proved);

/*
 * What a function's first instructions have made of the frame pointer, if they have not been left at `pc` and sp is what they have left it.
 * False: nothing.
 */
bool col_unwind_code_fp_of(uintptr_t function, uintptr_t pc, uintptr_t sp, struct col_proved_pages *proved,
                           uintptr_t *fp);

/* Leaves the frame. False where the stack cannot be read. */
bool col_unwind_code_leave(struct col_regs *regs, struct col_stack_reader *reader, const struct col_code_exit *exit);

/* True when the exit is that of a function with a frame pointer, whose frame record tells the same. */
bool col_unwind_code_is_record(const struct col_code_exit *exit);

/* The rule of that exit, of type COL_RULE_SIMPLE; COL_RULE_UNKNOWN if it does not fit one. */
col_unwind_rule col_unwind_code_pack(const struct col_code_exit *exit);

/* True when a call that `address` follows may have led there: code lies before it, and looks like a call. */
bool col_unwind_code_is_return_address(uintptr_t address, struct col_proved_pages *proved);

#endif
