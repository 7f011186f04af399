/* unwind.c -- the call stack of the code that a signal interrupted */
#include "sample/unwind.h"

#include <stdbool.h>
#include <string.h>

#include "base/arch.h"
#include "sample/unwind_cache.h"
#include "sample/unwind_cfi.h"
#include "sample/unwind_code.h"
#include "sample/unwind_fp.h"
#include "sample/unwind_frames.h"
#include "sample/unwind_java.h"
#include "sample/unwind_region.h"
#include "sample/unwind_row.h"
#include "target/code_finder.h"
#include "target/parallel_region.h"

enum {
    MOST_STACK_SWITCHES = 64, /* signal frames, and jumps to another stack: what could lead in a circle */
    ENTRY_CODE_BYTES = 128,   /* _start, and in the dynamic linker what follows it */
};

static const uint64_t all_registers = (UINT64_C(1) << COL_DWARF_REGS) - 1;
static const uint64_t basic_registers =
    UINT64_C(1) << COL_DWARF_PC | UINT64_C(1) << COL_DWARF_SP | UINT64_C(1) << COL_DWARF_FP;

struct walk {
    const struct col_java_runtime *java; /* NULL: none */
    struct col_stack_reader reader;
    struct col_proved_pages proved; /* of unwind tables */
    struct col_regs regs;
    uint64_t known; /* which of regs.dwarf are this frame's; pc, sp and fp always are */
    struct col_unwind_rules rules;
    bool is_exact; /* pc is an instruction to come, not a return address */
    unsigned switches;
    unsigned code_budget;
    size_t guessed_at; /* the first frame whose caller was not found by a table or a frame pointer; SIZE_MAX: none */
    struct col_unwind_region region;
    size_t full_until; /* up to this frame all registers that survive calls are followed, not only sp and fp */
};

enum step {
    STEP_ON,
    STEP_NEEDS_REGISTERS, /* the walk must begin again and follow all registers up to here */
    STEP_END,
};

/* What there is to know about the code of a frame: its rule, and where its table entry is if there is one. */
struct finding {
    col_unwind_rule rule;
    bool has_fde;
    struct col_eh_fde fde;
    struct col_unwind_row row;
};

static bool find_row(struct walk *walk, const struct col_code_module *module, uintptr_t pc, struct finding *finding)
{
    finding->has_fde = col_eh_frame_find(module, pc, &walk->proved, &finding->fde) &&
                       col_unwind_row_find(&finding->fde, pc, &finding->row);
    return finding->has_fde;
}

/* True in a module's first instructions if they have no unwind table: the dynamic linker's, and other libraries' _start.
   Nobody called those. */
static bool is_entry(struct walk *walk, const struct col_code_module *module, uintptr_t pc, struct finding *finding)
{
    uintptr_t entry = col_code_finder_entry_point_in(walk->proved.memory, module);
    return entry != 0 && pc - entry < ENTRY_CODE_BYTES && !find_row(walk, module, entry, finding);
}

/* Studies the code at a frame. An unknown rule means that no module has it. */
static void study(struct walk *walk, struct finding *finding)
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
    else if (walk->is_exact || is_amid_function)
        finding->rule = is_found ? col_unwind_cfi_pack(&finding->fde, &finding->row) : COL_RULE_NO_TABLE;
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
    if (finding->rule == COL_RULE_NO_TABLE && is_entry(walk, &module, pc - !walk->is_exact, finding))
        finding->rule = COL_RULE_OUTERMOST;
}

/* The rule of the frame, studied and remembered if need be. */
static col_unwind_rule learn(struct walk *walk)
{
    struct finding finding;
    study(walk, &finding);
    if (finding.rule != COL_RULE_UNKNOWN && finding.rule != COL_RULE_NO_TABLE) /* those are left in other ways */
        col_unwind_cache_add(walk->rules, col_unwind_place(walk->regs.pc, walk->is_exact), finding.rule);
    return finding.rule;
}

/* Below a signal trampoline: all registers are those of the interrupted code, which may be on another stack. */
static enum step step_over_signal(struct walk *walk, enum col_stack_end *end)
{
    uintptr_t context = walk->regs.sp + COL_ARCH_CONTEXT_AT;
    if (walk->switches++ == MOST_STACK_SWITCHES) {
        *end = COL_STACK_BAD_FRAME;
        return STEP_END;
    }
    for (unsigned i = 0; i < COL_DWARF_REGS; i++)
        if (!col_safe_read_stack(&walk->reader, context + col_arch_context_offset(i), &walk->regs.dwarf[i])) {
            *end = COL_STACK_UNREADABLE;
            return STEP_END;
        }
    walk->regs.pc = walk->regs.dwarf[COL_DWARF_PC];
    walk->regs.sp = walk->regs.dwarf[COL_DWARF_SP];
    walk->regs.fp = walk->regs.dwarf[COL_DWARF_FP];
    walk->known = all_registers;
    walk->is_exact = true;
    col_safe_read_enter(&walk->reader, walk->regs.sp);
    return STEP_ON;
}

/* The new stack pointer must lie above the old one; after a switch of stacks it lies anywhere, but not too often. */
static bool is_sensible_move(struct walk *walk, uintptr_t old_sp, uintptr_t old_pc, bool sp_is_saved)
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
static enum step step_by_table(struct walk *walk, const struct finding *finding, enum col_stack_end *end)
{
    uintptr_t old_sp = walk->regs.sp, old_pc = walk->regs.pc;
    struct col_unwind_cfi_frame frame = {&walk->regs, walk->known | basic_registers};
    bool sp_is_saved;
    walk->regs.dwarf[COL_DWARF_PC] = old_pc;
    walk->regs.dwarf[COL_DWARF_SP] = old_sp;
    walk->regs.dwarf[COL_DWARF_FP] = walk->regs.fp;
    switch (col_unwind_cfi_apply(&finding->fde, &finding->row, &walk->reader, &frame, &sp_is_saved)) {
    case COL_CFI_DONE:
        break;
    case COL_CFI_OUTERMOST:
        *end = COL_STACK_COMPLETE;
        return STEP_END;
    case COL_CFI_UNREADABLE:
        *end = COL_STACK_UNREADABLE;
        return STEP_END;
    case COL_CFI_REGISTER_NOT_KNOWN:
        *end = COL_STACK_BAD_FRAME;
        return STEP_NEEDS_REGISTERS;
    case COL_CFI_NOT_SENSIBLE:
        *end = COL_STACK_BAD_FRAME;
        return STEP_END;
    }
    walk->known = frame.known;
    walk->is_exact = false;
    if (walk->regs.pc == 0) {
        *end = COL_STACK_COMPLETE;
        return STEP_END;
    }
    if (!is_sensible_move(walk, old_sp, old_pc, sp_is_saved)) {
        *end = COL_STACK_BAD_FRAME;
        return STEP_END;
    }
    return STEP_ON;
}

/* After a step to the caller without a table. */
static enum step arrive(struct walk *walk, uintptr_t old_sp, uintptr_t old_pc, enum col_stack_end *end)
{
    walk->known = basic_registers;
    walk->is_exact = false;
    *end = walk->regs.pc == 0 ? COL_STACK_COMPLETE : COL_STACK_BAD_FRAME;
    return walk->regs.pc != 0 && is_sensible_move(walk, old_sp, old_pc, false) ? STEP_ON : STEP_END;
}

/* The frame that was put out last is left by a guess. */
static void note_guess(struct walk *walk, size_t frame)
{
    walk->guessed_at = frame < walk->guessed_at ? frame : walk->guessed_at;
}

/* What following the code has told is remembered. Where no module is, other code may come to lie: that is noticed only if
   there is no return address where this one would have it, so what needs no guess is better looked at each time. */
static void remember_exit(struct walk *walk, const struct col_code_exit *exit, bool is_in_module)
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

/* Just-in-time compilers that write no tables keep frame pointers; so what calls for a guess is code of a module. */
static enum col_unwind_leaving leave_by_record(struct walk *walk)
{
    struct col_code_module module;
    struct col_code_exit exit;
    bool is_in_module = col_code_finder_find_in(walk->proved.memory, walk->regs.pc - !walk->is_exact, &module);
    if (is_in_module &&
        col_unwind_code_find_entry(&walk->regs, &walk->reader, &walk->proved, &walk->code_budget, &exit) &&
        col_unwind_code_leave(&walk->regs, &walk->reader, &exit))
        return col_unwind_code_is_record(&exit) ? COL_LEFT : COL_LEFT_BY_GUESS;
    enum col_unwind_leaving leaving = col_unwind_fp_step(&walk->regs, &walk->reader, &walk->proved, walk->is_exact);
    return leaving == COL_LEFT && is_in_module ? COL_LEFT_BY_GUESS : leaving;
}

static enum step step_by_record(struct walk *walk, size_t frame, enum col_stack_end *end)
{
    uintptr_t old_sp = walk->regs.sp, old_pc = walk->regs.pc;
    enum col_unwind_leaving leaving = leave_by_record(walk);
    if (leaving == COL_LEFT_NOT) {
        *end = COL_STACK_NO_UNWIND_INFO;
        return STEP_END;
    }
    if (leaving == COL_LEFT_BY_GUESS)
        note_guess(walk, frame);
    return arrive(walk, old_sp, old_pc, end);
}

static enum step step_without_table(struct walk *walk, bool is_in_module, size_t frame, enum col_stack_end *end)
{
    struct col_code_exit exit;
    uintptr_t old_sp = walk->regs.sp, old_pc = walk->regs.pc;
    bool is_found = col_unwind_code_find_exit(&walk->regs, &walk->reader, &walk->proved, &walk->code_budget, &exit);
    if (is_found || walk->code_budget > 0) /* else it was not looked at to the end */
        remember_exit(walk, is_found ? &exit : NULL, is_in_module);
    if (!is_found || !col_unwind_code_leave(&walk->regs, &walk->reader, &exit))
        return step_by_record(walk, frame, end);
    if (!exit.is_certain && !col_unwind_code_is_record(&exit))
        note_guess(walk, frame);
    return arrive(walk, old_sp, old_pc, end);
}

/* What a frame needs for a simple rule, apart from the walk so that the compiler keeps it in registers. */
struct place {
    uintptr_t pc, sp, fp;
};

/* By a simple rule: loads, adds and compares. False at an end. */
static inline bool step_simply(struct col_stack_reader *reader, col_unwind_rule rule, struct place *place,
                               enum col_stack_end *end)
{
    uintptr_t cfa = (rule & COL_RULE_FROM_FP ? place->fp : place->sp) + (uintptr_t)col_unwind_rule_cfa_offset(rule);
    uintptr_t return_at =
        cfa + (uintptr_t)(COL_ARCH_RETURN_OFFSET ? COL_ARCH_RETURN_OFFSET : col_unwind_rule_return_offset(rule));
    uintptr_t pc;
    *end = COL_STACK_BAD_FRAME;
    if (__builtin_expect(cfa <= place->sp || cfa % sizeof cfa != 0, 0))
        return false;
    *end = COL_STACK_UNREADABLE;
    if (!col_safe_read_stack(reader, return_at, &pc))
        return false;
    if (rule & COL_RULE_FP_IS_SAVED &&
        !col_safe_read_stack(reader, cfa + (uintptr_t)col_unwind_rule_fp_offset(rule), &place->fp))
        return false;
    place->pc = col_arch_strip_return(pc);
    place->sp = cfa;
    *end = COL_STACK_COMPLETE;
    return place->pc != 0;
}

/* By the rule that following the code gave, if it still leads to a return address. */
static enum step step_by_code(struct walk *walk, col_unwind_rule rule, size_t frame, enum col_stack_end *end)
{
    struct place place = {walk->regs.pc, walk->regs.sp, walk->regs.fp};
    if (!step_simply(&walk->reader, rule, &place, end) ||
        (col_unwind_cache_find(walk->rules, col_unwind_place(place.pc, false)) == COL_RULE_UNKNOWN &&
         !col_unwind_code_is_return_address(place.pc, &walk->proved)))
        return step_without_table(walk, false, frame, end);
    note_guess(walk, frame);
    uintptr_t old_sp = walk->regs.sp, old_pc = walk->regs.pc;
    walk->regs.pc = place.pc;
    walk->regs.sp = place.sp;
    walk->regs.fp = place.fp;
    return arrive(walk, old_sp, old_pc, end);
}

/* At an opener's call, on whichever stack. */
static enum step step_to_opener(struct walk *walk, enum col_stack_end *end)
{
    walk->known = basic_registers;
    walk->is_exact = false;
    *end = COL_STACK_BAD_FRAME;
    return walk->switches++ < MOST_STACK_SWITCHES ? STEP_ON : STEP_END;
}

/* Every rule but the simple one; and all rules while registers are followed. */
static enum step step_rarely(struct walk *walk, col_unwind_rule rule, size_t frame, enum col_stack_end *end)
{
    struct finding finding;
    switch (rule & COL_RULE_TYPE_MASK) {
    case COL_RULE_OUTERMOST:
        *end = COL_STACK_COMPLETE;
        return STEP_END;
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
    study(walk, &finding);
    if (finding.has_fde)
        return step_by_table(walk, &finding, end);
    *end = COL_STACK_NO_UNWIND_INFO; /* its module went away in between */
    return STEP_END;
}

/* As many frames with known simple rules as there are. The walk stands at the first other one afterwards. */
static enum step walk_simple_frames(struct walk *walk, struct col_unwind_frames *output, enum col_stack_end *end)
{
    struct place place = {walk->regs.pc, walk->regs.sp, walk->regs.fp};
    struct col_unwind_rules rules = walk->rules;
    size_t n = output->count, max = output->max;
    enum step step = STEP_ON;
    while (n < max) {
        col_unwind_rule rule = col_unwind_cache_find(rules, col_unwind_place(place.pc, false));
        if ((rule & (COL_RULE_TYPE_MASK | COL_RULE_AT_START)) != COL_RULE_SIMPLE)
            break;
        if (output->sps != NULL)
            output->sps[n] = place.sp;
        output->pcs[n++] = place.pc;
        if (!step_simply(&walk->reader, rule, &place, end)) {
            step = STEP_END;
            break;
        }
    }
    if (n > output->count)
        walk->known = basic_registers; /* a simple rule does not follow the others */
    output->count = n;
    walk->regs.pc = place.pc;
    walk->regs.sp = place.sp;
    walk->regs.fp = place.fp;
    return step;
}

/* One frame of any kind. */
static enum step walk_frame(struct walk *walk, struct col_unwind_frames *output, enum col_stack_end *end)
{
    if (output->count == output->max && !col_unwind_frames_turn(output, &walk->reader, &walk->regs)) {
        *end = COL_STACK_DEPTH_LIMIT;
        return STEP_END;
    }
    if (output->has_jumped && output->turns == 1) {
        walk->known = basic_registers;
        walk->is_exact = false;
    }
    uintptr_t pc = walk->regs.pc;
    bool is_innermost = output->count == 0;
    if (walk->java != NULL && col_java_runtime_has_code(walk->java, pc)) {
        uintptr_t old_sp = walk->regs.sp;
        switch (col_unwind_java_walk(walk->java, &walk->regs, &walk->reader, &walk->proved, walk->is_exact, output)) {
        case COL_JAVA_LEFT:
            return arrive(walk, old_sp, pc, end);
        case COL_JAVA_JUMPED:
            return STEP_ON;
        case COL_JAVA_NO_ROOM:
            *end = COL_STACK_DEPTH_LIMIT;
            return STEP_END;
        case COL_JAVA_LEFT_NOT:
            break;
        }
    }
    col_unwind_rule rule = col_unwind_cache_find(walk->rules, col_unwind_place(pc, walk->is_exact));
    if (rule == COL_RULE_UNKNOWN)
        rule = learn(walk);
    bool is_known = rule != COL_RULE_UNKNOWN && (rule & COL_RULE_TYPE_MASK) != COL_RULE_NO_TABLE &&
                    pc >> COL_ARCH_ADDRESS_BITS == 0; /* else it may be the rule of another place */
    if (!is_known && !is_innermost && !col_code_finder_is_code_in(walk->proved.memory, pc - !walk->is_exact)) {
        *end = COL_STACK_BAD_PC;
        return STEP_END;
    }
    if (output->sps != NULL)
        output->sps[output->count] = walk->regs.sp;
    output->pcs[output->count++] = pc + (!is_innermost && (walk->is_exact || rule & COL_RULE_AT_START));
    if ((rule & COL_RULE_TYPE_MASK) == COL_RULE_TABLE && !walk->is_exact &&
        col_unwind_region_leave(&walk->region, output, &walk->reader, &walk->regs))
        return step_to_opener(walk, end);
    if ((rule & COL_RULE_TYPE_MASK) != COL_RULE_SIMPLE || col_unwind_frames_total(output) <= walk->full_until)
        return step_rarely(walk, rule, col_unwind_frames_total(output) - 1, end);

    struct place place = {pc, walk->regs.sp, walk->regs.fp};
    if (!step_simply(&walk->reader, rule, &place, end))
        return STEP_END;
    walk->regs.pc = place.pc;
    walk->regs.sp = place.sp;
    walk->regs.fp = place.fp;
    walk->known = basic_registers;
    walk->is_exact = false;
    return STEP_ON;
}

/* Walks from the registers that the walk has. */
static enum step walk_frames(struct walk *walk, struct col_unwind_frames *output, enum col_stack_end *end)
{
    enum step step = STEP_ON;
    while (step == STEP_ON) {
        if (walk->is_exact || col_unwind_frames_total(output) < walk->full_until)
            step = walk_frame(walk, output, end);
        else if ((step = walk_simple_frames(walk, output, end)) == STEP_ON)
            step = walk_frame(walk, output, end);
        if (step == STEP_END && *end == COL_STACK_COMPLETE &&
            col_unwind_region_join_last(&walk->region, output, &walk->reader, &walk->regs))
            step = step_to_opener(walk, end);
    }
    return step;
}

/* A guess that led to the start of the thread is believed, and named; what any other led to is not. */
static void judge_guess(const struct walk *walk, struct col_unwind_frames *output, enum col_stack_end *end)
{
    if (*end == COL_STACK_COMPLETE) {
        *end = COL_STACK_GUESSED;
    } else if (*end != COL_STACK_DEPTH_LIMIT) {
        bool is_deep = output->turns > 0 && walk->guessed_at >= output->max / 2;
        *end = is_deep ? COL_STACK_DEPTH_LIMIT : COL_STACK_NO_UNWIND_INFO;
        if (!is_deep)
            col_unwind_frames_cut(output, walk->guessed_at + 1);
    }
}

/* What is known of the leaf. */
static void begin_at(struct walk *walk, const ucontext_t *context, const struct col_unwind_remote *remote)
{
    walk->known = context != NULL ? all_registers : basic_registers;
    if (context != NULL) {
        col_regs_from_context(&walk->regs, context);
        return;
    }
    memset(&walk->regs, 0, sizeof walk->regs);
    walk->regs.pc = remote->leaf.pc;
    walk->regs.sp = remote->leaf.sp;
    walk->regs.fp = remote->leaf.fp;
}

/* From the context of our own process, or from another one's leaf. */
static size_t walk_from(const ucontext_t *context, struct col_unwind_remote *remote, struct col_stack_bounds *bounds,
                        struct col_unwind_frames output, enum col_stack_end *end)
{
    struct col_stack_bounds unknown = {0, 0};
    struct walk walk; /* set field by field: most of it is registers, which each attempt takes anew */
    *end = COL_STACK_DEPTH_LIMIT;
    walk.java = remote != NULL ? NULL : col_java_runtime();
    walk.rules = remote != NULL ? remote->rules : col_unwind_cache_own();
    walk.full_until = 0;
    walk.proved = (struct col_proved_pages){.memory = remote != NULL ? remote->memory : NULL};
    walk.region = (struct col_unwind_region){false, false};
    /* Most stacks are walked once. The first frame that needs a register which was not followed is walked to again,
       following all; should that happen once more, all are followed to the end. */
    for (int attempt = 0; attempt < 3; attempt++) {
        begin_at(&walk, context, remote);
        walk.is_exact = true;
        walk.switches = 0;
        walk.code_budget = COL_CODE_BUDGET;
        walk.guessed_at = SIZE_MAX;
        col_unwind_frames_begin(&output);
        if (remote != NULL)
            col_safe_read_begin_remote(&walk.reader, &unknown, remote->memory);
        else
            col_safe_read_begin(&walk.reader, bounds ? bounds : &unknown, walk.regs.sp);
        if (walk_frames(&walk, &output, end) != STEP_NEEDS_REGISTERS ||
            col_unwind_frames_total(&output) <= walk.full_until)
            break;
        col_unwind_region_finish(&walk.region);
        walk.full_until = attempt == 0 ? col_unwind_frames_total(&output) : SIZE_MAX;
    }
    col_unwind_region_finish(&walk.region);
    if (remote != NULL)
        remote->last = (struct col_stack_mark){walk.regs.pc, walk.regs.sp, walk.regs.fp};
    if (walk.guessed_at != SIZE_MAX)
        judge_guess(&walk, &output, end);
    bool is_rooted = *end == COL_STACK_COMPLETE || *end == COL_STACK_GUESSED;
    if (col_unwind_frames_finish(&output, is_rooted, *end == COL_STACK_DEPTH_LIMIT))
        *end = COL_STACK_DEPTH_LIMIT;
    return output.count;
}

size_t col_unwind_walk_deep(const ucontext_t *context, struct col_stack_bounds *bounds, struct col_deep_stack *deep,
                            uintptr_t *pcs, uintptr_t *sps, size_t max, enum col_stack_end *end)
{
    struct col_unwind_frames output = {.pcs = pcs, .sps = sps, .max = max, .deep = deep};
    return walk_from(context, NULL, bounds, output, end);
}

size_t col_unwind_walk_remote(struct col_unwind_remote *remote, uintptr_t *pcs, uintptr_t *sps, size_t max,
                              enum col_stack_end *end)
{
    struct col_deep_stack deep = {{0, 0, 0}, 0};
    struct col_unwind_frames output = {.pcs = pcs, .sps = sps, .max = max, .deep = &deep};
    return walk_from(NULL, remote, NULL, output, end);
}

size_t col_unwind_walk(const ucontext_t *context, struct col_stack_bounds *bounds, uintptr_t *pcs, uintptr_t *sps,
                       size_t max, enum col_stack_end *end)
{
    return col_unwind_walk_deep(context, bounds, NULL, pcs, sps, max, end);
}

void col_unwind_forget_modules(void)
{
    col_unwind_cache_forget();
}
