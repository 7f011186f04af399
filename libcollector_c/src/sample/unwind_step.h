/* unwind_step.h -- from one frame of a walk to its caller, in every way but the simple one, which is here to be inlined */
#ifndef COL_SAMPLE_UNWIND_STEP_H
#define COL_SAMPLE_UNWIND_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/safe_read.h"
#include "sample/unwind_cache.h"
#include "sample/unwind_frames.h"
#include "sample/unwind_region.h"
#include "target/java_runtime.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. */

#define COL_UNWIND_ALL_REGISTERS ((UINT64_C(1) << COL_DWARF_REGS) - 1)
#define COL_UNWIND_BASIC_REGISTERS                                                                                     \
    (UINT64_C(1) << COL_DWARF_PC | UINT64_C(1) << COL_DWARF_SP | UINT64_C(1) << COL_DWARF_FP)

/* How a place was left where nothing else is remembered of it: recursion comes by it thousands of times on one stack. */
struct col_unwind_recent {
    uintptr_t pc; /* 0: none */
    col_unwind_rule rule;
};

/* One walk. */
struct col_unwind_state {
    const struct col_java_runtime *java; /* NULL: none */
    struct col_stack_reader reader;
    struct col_proved_pages proved; /* of unwind tables */
    struct col_regs regs;
    uint64_t known; /* which of regs.dwarf are this frame's; pc, sp and fp always are */
    struct col_unwind_rules rules;
    bool is_exact; /* pc is an instruction to come, not a return address */
    unsigned switches;
    unsigned code_budget;
    struct col_unwind_recent recent[2];
    unsigned next_recent;
    size_t guessed_at; /* the first frame whose caller was not found by a table or a frame pointer; SIZE_MAX: none */
    struct col_unwind_region region;
    size_t full_until; /* up to this frame all registers that survive calls are followed, not only sp and fp */
};

enum col_unwind_step {
    COL_STEP_ON,
    COL_STEP_NEEDS_REGISTERS, /* the walk must begin again and follow all registers up to here */
    COL_STEP_END,
};

/* The rule of the frame, studied and remembered if need be. */
col_unwind_rule col_unwind_step_learn(struct col_unwind_state *walk);

/* Every rule but the simple one; and all rules while registers are followed. */
enum col_unwind_step col_unwind_step_rarely(struct col_unwind_state *walk, col_unwind_rule rule, size_t frame,
                                            enum col_stack_end *end);

/* At an opener's call, on whichever stack. */
enum col_unwind_step col_unwind_step_to_opener(struct col_unwind_state *walk, enum col_stack_end *end);

/* After a step to the caller without a table. */
enum col_unwind_step col_unwind_step_arrive(struct col_unwind_state *walk, uintptr_t old_sp, uintptr_t old_pc,
                                            enum col_stack_end *end);

/* What a frame needs for a simple rule, apart from the walk so that the compiler keeps it in registers. */
struct col_unwind_simple {
    uintptr_t pc, sp, fp;
};

/* By a simple rule: loads, adds and compares. False at an end. */
static inline bool col_unwind_step_simply(struct col_stack_reader *reader, col_unwind_rule rule,
                                          struct col_unwind_simple *place, enum col_stack_end *end)
{
    uintptr_t cfa = (rule & COL_RULE_FROM_FP ? place->fp : place->sp) + (uintptr_t)col_unwind_rule_cfa_offset(rule);
    uintptr_t return_at =
        cfa + (uintptr_t)(COL_ARCH_RETURN_OFFSET ? COL_ARCH_RETURN_OFFSET : col_unwind_rule_return_offset(rule));
    uintptr_t pc;
    *end = COL_END_BAD_FRAME;
    if (__builtin_expect(cfa <= place->sp || cfa % sizeof cfa != 0, 0))
        return false;
    *end = COL_END_UNREADABLE;
    if (!col_safe_read_stack(reader, return_at, &pc))
        return false;
    if (rule & COL_RULE_FP_IS_SAVED &&
        !col_safe_read_stack(reader, cfa + (uintptr_t)col_unwind_rule_fp_offset(rule), &place->fp))
        return false;
    place->pc = col_arch_strip_return(pc);
    place->sp = cfa;
    *end = COL_END_COMPLETE;
    return place->pc != 0;
}

#endif
