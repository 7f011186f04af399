/* unwind_step.c -- from one frame of a walk to its caller, by its table, by its code, over a signal, or to the opener of a parallel region */
#include "sample/unwind_step.h"

#include "sample/unwind_cfi.h"
#include "sample/unwind_code.h"
#include "sample/unwind_fp.h"
#include "target/code_finder.h"
#include "target/parallel_region.h"

enum {
    MOST_STACK_SWITCHES = 64,       /* signal frames, and jumps to another stack: what could lead in a circle */
    LARGEST_STACK_BYTES = 64 << 20, /* that a thread usually has */
    ENTRY_CODE_BYTES = 128,         /* _start, and in the dynamic linker what follows it */
};

/* What there is to know about the code of a frame: its rule, and where its table entry is if there is one. */
struct finding {
    col_unwind_rule rule;
    bool has_fde;
    struct col_eh_fde fde;
    struct col_unwind_row row;
};

static bool find_row(struct col_unwind_state *walk, const struct col_code_module *module, uintptr_t pc,
                     struct finding *finding)
{
    finding->has_fde = col_eh_frame_find(module, pc, &walk->proved, &finding->fde) &&
                       col_unwind_row_find(&finding->fde, pc, &finding->row);
    return finding->has_fde;
}

/* True in a module's first instructions if they have no unwind table: the dynamic linker's, and other libraries' _start.
   Nobody called those. */
static bool is_entry(struct col_unwind_state *walk, const struct col_code_module *module, uintptr_t pc,
                     struct finding *finding)
{
    uintptr_t entry = col_code_finder_entry_point_in(walk->proved.memory, module);
    return entry != 0 && pc - entry < ENTRY_CODE_BYTES && !find_row(walk, module, entry, finding);
}

/* Studies the code at a frame. An unknown rule means that no module has it. */
static void study(struct col_unwind_state *walk, struct finding *finding)
{
    uintptr_t pc = walk->regs.pc;
    struct col_code_module module;
    finding->rule = COL_RULE_UNKNOWN;
    finding->has_fde = false;
    if (!col_code_finder_find_in(walk->proved.memory, pc - !walk->is_exact, &module))
        return;
    bool is_found = find_row(walk, &module, pc - !walk->is_exact, finding);
    bool is_amid_function = is_found && pc < finding->fde.high;
    if (walk->proved.memory == NULL && pc == (uintptr_t)col_parallel_region_return)
        finding->rule = COL_RULE_TABLE; /* or by the region, see walk_frame */
    else if (is_amid_function || (walk->is_exact && is_found))
        finding->rule = col_unwind_cfi_pack(&finding->fde, &finding->row);
    else if (walk->is_exact)
        finding->rule = col_arch_is_in_signal_return(&walk->proved, pc) ? COL_RULE_SIGNAL : COL_RULE_NO_TABLE;
    else if (col_arch_is_signal_return(&walk->proved, pc)) /* a trampoline that its table, if any, does not mark */
        finding->rule = COL_RULE_SIGNAL;
    else if (is_found)
        finding->rule = col_unwind_cfi_pack(&finding->fde, &finding->row);
    else if (find_row(
                 walk, &module, pc,
                 finding)) /* no call led to it: put there below a coroutine's first function, so nothing lies beyond */
        finding->rule = COL_RULE_OUTERMOST | COL_RULE_AT_START;
    else
        finding->rule = COL_RULE_NO_TABLE;
    if (finding->rule == COL_RULE_SIGNAL && !walk->is_exact)
        finding->rule |= COL_RULE_AT_START;
    if (walk->is_exact && (finding->rule & COL_RULE_TYPE_MASK) == COL_RULE_SIMPLE &&
        col_unwind_code_is_switch(pc, &walk->proved)) /* no rule says so: it is left as a rare one */
        finding->rule = COL_RULE_TABLE;
    if (finding->rule == COL_RULE_NO_TABLE && is_entry(walk, &module, pc - !walk->is_exact, finding))
        finding->rule = COL_RULE_OUTERMOST;
}

col_unwind_rule col_unwind_step_learn(struct col_unwind_state *walk)
{
    struct finding finding;
    study(walk, &finding);
    if (finding.rule != COL_RULE_UNKNOWN && finding.rule != COL_RULE_NO_TABLE) /* those are left in other ways */
        col_unwind_cache_add(walk->rules, col_unwind_place(walk->regs.pc, walk->is_exact), finding.rule);
    return finding.rule;
}

/* Below a signal trampoline: all registers are those of the interrupted code, which may be on another stack. */
static enum col_unwind_step step_over_signal(struct col_unwind_state *walk, enum col_stack_end *end)
{
    uintptr_t context = walk->regs.sp + COL_ARCH_CONTEXT_AT;
    if (walk->switches++ == MOST_STACK_SWITCHES) {
        *end = COL_END_BAD_FRAME;
        return COL_STEP_END;
    }
    for (unsigned i = 0; i < COL_DWARF_REGS; i++)
        if (!col_safe_read_stack(&walk->reader, context + col_arch_context_offset(i), &walk->regs.dwarf[i])) {
            *end = COL_END_UNREADABLE;
            return COL_STEP_END;
        }
    walk->regs.pc = walk->regs.dwarf[COL_DWARF_PC];
    walk->regs.sp = walk->regs.dwarf[COL_DWARF_SP];
    walk->regs.fp = walk->regs.dwarf[COL_DWARF_FP];
    walk->known = COL_UNWIND_ALL_REGISTERS;
    walk->is_exact = true;
    col_safe_read_enter(&walk->reader, walk->regs.sp);
    return COL_STEP_ON;
}

/* The new stack pointer must lie above the old one; after a switch of stacks it lies anywhere, but not too often. */
static bool is_sensible_move(struct col_unwind_state *walk, uintptr_t old_sp, uintptr_t old_pc, bool sp_is_saved)
{
    uintptr_t sp = walk->regs.sp;
    if (sp % sizeof sp != 0)
        return false;
    if (sp_is_saved) {
        col_safe_read_enter(&walk->reader, sp);
        return walk->switches++ < MOST_STACK_SWITCHES;
    }
    if (sp == old_sp) /* a leaf function that keeps its return address in a register */
        return walk->regs.pc != old_pc && walk->switches++ < MOST_STACK_SWITCHES;
    return sp > old_sp;
}

/* By the unwind table itself. */
static enum col_unwind_step step_by_table(struct col_unwind_state *walk, const struct finding *finding,
                                          enum col_stack_end *end)
{
    uintptr_t old_sp = walk->regs.sp, old_pc = walk->regs.pc;
    struct col_unwind_cfi_frame frame = {&walk->regs, walk->known | COL_UNWIND_BASIC_REGISTERS};
    bool sp_is_saved;
    walk->regs.dwarf[COL_DWARF_PC] = old_pc;
    walk->regs.dwarf[COL_DWARF_SP] = old_sp;
    walk->regs.dwarf[COL_DWARF_FP] = walk->regs.fp;
    switch (col_unwind_cfi_apply(&finding->fde, &finding->row, &walk->reader, &frame, &sp_is_saved)) {
    case COL_CFI_DONE:
        break;
    case COL_CFI_OUTERMOST:
        *end = COL_END_COMPLETE;
        return COL_STEP_END;
    case COL_CFI_UNREADABLE:
        *end = COL_END_UNREADABLE;
        return COL_STEP_END;
    case COL_CFI_REGISTER_NOT_KNOWN:
        *end = COL_END_BAD_FRAME;
        return COL_STEP_NEEDS_REGISTERS;
    case COL_CFI_NOT_SENSIBLE:
        *end = COL_END_BAD_FRAME;
        return COL_STEP_END;
    }
    walk->known = frame.known;
    walk->is_exact = false;
    if (walk->regs.pc == 0) {
        *end = COL_END_COMPLETE;
        return COL_STEP_END;
    }
    if (!is_sensible_move(walk, old_sp, old_pc, sp_is_saved)) {
        *end = COL_END_BAD_FRAME;
        return COL_STEP_END;
    }
    return COL_STEP_ON;
}

enum col_unwind_step col_unwind_step_arrive(struct col_unwind_state *walk, uintptr_t old_sp, uintptr_t old_pc,
                                            enum col_stack_end *end)
{
    walk->known = COL_UNWIND_BASIC_REGISTERS;
    walk->is_exact = false;
    *end = walk->regs.pc == 0 ? COL_END_COMPLETE : COL_END_BAD_FRAME;
    return walk->regs.pc != 0 && is_sensible_move(walk, old_sp, old_pc, false) ? COL_STEP_ON : COL_STEP_END;
}

/* The frame that was put out last is left by a guess. */
static void note_guess(struct col_unwind_state *walk, size_t frame)
{
    walk->guessed_at = frame < walk->guessed_at ? frame : walk->guessed_at;
}

/* What following the code has told is remembered. Where no module is, other code may come to lie: that is noticed only if
   there is no return address where this one would have it, so what needs no guess is better looked at each time. */
static void remember_exit(struct col_unwind_state *walk, const struct col_code_exit *exit, bool is_in_module)
{
    bool is_record = exit && col_unwind_code_is_record(exit);
    col_unwind_rule rule = COL_RULE_BY_RECORD;
    if (exit && (is_in_module || !is_record)) {
        rule = col_unwind_code_pack(exit);
        if (rule == COL_RULE_UNKNOWN || (exit->is_certain && !is_in_module))
            return;
        if (!exit->is_certain && !is_record)
            rule = (rule & ~(col_unwind_rule)COL_RULE_TYPE_MASK) | COL_RULE_BY_CODE;
    }
    col_unwind_cache_add(walk->rules, col_unwind_place(walk->regs.pc, walk->is_exact), rule);
}

/*
 * After a guess, and not on the thread's own stack: what the walk takes for a stack may be what another thread is just unmapping, and the fewer words are read of it
 * the better.
 */
static bool is_astray(const struct col_unwind_state *walk)
{
    uintptr_t high = walk->reader.own->high;
    return walk->guessed_at != SIZE_MAX && walk->reader.memory == NULL &&
           (walk->regs.sp >= high || high - walk->regs.sp > LARGEST_STACK_BYTES);
}

/* Just-in-time compilers that write no tables keep frame pointers; so what calls for a guess is code of a module. */
static enum col_unwind_leaving leave_by_record(struct col_unwind_state *walk)
{
    struct col_code_module module;
    struct col_code_exit exit;
    bool is_in_module = col_code_finder_find_in(walk->proved.memory, walk->regs.pc - !walk->is_exact, &module);
    if (is_in_module && !is_astray(walk) &&
        col_unwind_code_find_entry(&walk->regs, &walk->reader, &walk->proved, &walk->code_budget, &exit) &&
        col_unwind_code_leave(&walk->regs, &walk->reader, &exit))
        return col_unwind_code_is_record(&exit) ? COL_LEFT : COL_LEFT_BY_GUESS;
    enum col_unwind_leaving leaving = col_unwind_fp_step(&walk->regs, &walk->reader, &walk->proved, walk->is_exact);
    return leaving == COL_LEFT && is_in_module ? COL_LEFT_BY_GUESS : leaving;
}

static enum col_unwind_step step_by_record(struct col_unwind_state *walk, size_t frame, enum col_stack_end *end)
{
    uintptr_t old_sp = walk->regs.sp, old_pc = walk->regs.pc;
    enum col_unwind_leaving leaving = leave_by_record(walk);
    if (leaving == COL_LEFT_NOT) {
        *end = COL_END_NO_UNWIND_INFO;
        return COL_STEP_END;
    }
    if (leaving == COL_LEFT_BY_GUESS)
        note_guess(walk, frame);
    return col_unwind_step_arrive(walk, old_sp, old_pc, end);
}

static col_unwind_rule recent_rule(const struct col_unwind_state *walk)
{
    for (unsigned i = 0; i < 2; i++)
        if (walk->recent[i].pc == walk->regs.pc && !walk->is_exact)
            return walk->recent[i].rule;
    return COL_RULE_UNKNOWN;
}

static void note_recent(struct col_unwind_state *walk, const struct col_code_exit *exit)
{
    if (exit->is_certain && !walk->is_exact)
        walk->recent[walk->next_recent++ % 2] = (struct col_unwind_recent){walk->regs.pc, col_unwind_code_pack(exit)};
}

/* By a rule that following the code gave, if it still leads to a return address. */
static bool leave_by_rule(struct col_unwind_state *walk, col_unwind_rule rule, enum col_stack_end *end)
{
    struct col_unwind_simple place = {walk->regs.pc, walk->regs.sp, walk->regs.fp};
    if (!col_unwind_step_simply(&walk->reader, rule, &place, end) ||
        (place.pc != walk->regs.pc &&
         col_unwind_cache_find(walk->rules, col_unwind_place(place.pc, false)) == COL_RULE_UNKNOWN &&
         !col_unwind_code_is_return_address(place.pc, &walk->proved)))
        return false;
    walk->regs.pc = place.pc;
    walk->regs.sp = place.sp;
    walk->regs.fp = place.fp;
    return true;
}

static enum col_unwind_step step_without_table(struct col_unwind_state *walk, bool is_in_module, size_t frame,
                                               enum col_stack_end *end)
{
    struct col_code_exit exit;
    uintptr_t old_sp = walk->regs.sp, old_pc = walk->regs.pc;
    col_unwind_rule recent = recent_rule(walk);
    if (recent != COL_RULE_UNKNOWN && leave_by_rule(walk, recent, end))
        return col_unwind_step_arrive(walk, old_sp, old_pc, end);
    bool is_found = col_unwind_code_find_exit(&walk->regs, &walk->reader, &walk->proved, &walk->code_budget, &exit);
    if (is_found || walk->code_budget > 0) /* else it was not looked at to the end */
        remember_exit(walk, is_found ? &exit : NULL, is_in_module);
    if (is_found && !is_in_module)
        note_recent(walk, &exit);
    if (!is_found || !col_unwind_code_leave(&walk->regs, &walk->reader, &exit))
        return step_by_record(walk, frame, end);
    if (!exit.is_certain && !col_unwind_code_is_record(&exit))
        note_guess(walk, frame);
    return col_unwind_step_arrive(walk, old_sp, old_pc, end);
}

static enum col_unwind_step step_by_code(struct col_unwind_state *walk, col_unwind_rule rule, size_t frame,
                                         enum col_stack_end *end)
{
    uintptr_t old_sp = walk->regs.sp, old_pc = walk->regs.pc;
    if (!leave_by_rule(walk, rule, end))
        return step_without_table(walk, false, frame, end);
    note_guess(walk, frame);
    return col_unwind_step_arrive(walk, old_sp, old_pc, end);
}

enum col_unwind_step col_unwind_step_to_opener(struct col_unwind_state *walk, enum col_stack_end *end)
{
    walk->known = COL_UNWIND_BASIC_REGISTERS;
    walk->is_exact = false;
    *end = COL_END_BAD_FRAME;
    return walk->switches++ < MOST_STACK_SWITCHES ? COL_STEP_ON : COL_STEP_END;
}

enum col_unwind_step col_unwind_step_rarely(struct col_unwind_state *walk, col_unwind_rule rule, size_t frame,
                                            enum col_stack_end *end)
{
    struct finding finding;
    switch (rule & COL_RULE_TYPE_MASK) {
    case COL_RULE_OUTERMOST:
        *end = COL_END_COMPLETE;
        return COL_STEP_END;
    case COL_RULE_SIGNAL:
        return step_over_signal(walk, end);
    case COL_RULE_UNKNOWN:
    case COL_RULE_NO_TABLE:
        return step_without_table(walk, (rule & COL_RULE_TYPE_MASK) == COL_RULE_NO_TABLE, frame, end);
    case COL_RULE_BY_CODE:
        return step_by_code(walk, rule, frame, end);
    case COL_RULE_BY_RECORD:
        return step_by_record(walk, frame, end);
    }
    uintptr_t old_sp = walk->regs.sp, old_pc = walk->regs.pc;
    if (walk->is_exact && col_unwind_code_leave_switch(&walk->regs, &walk->reader, &walk->proved))
        return col_unwind_step_arrive(walk, old_sp, old_pc, end);
    study(walk, &finding);
    if (finding.has_fde)
        return step_by_table(walk, &finding, end);
    *end = COL_END_NO_UNWIND_INFO; /* its module went away in between */
    return COL_STEP_END;
}
