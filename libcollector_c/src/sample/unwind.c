/* unwind.c -- the call stack of the code that a signal interrupted */
#include "sample/unwind.h"

#include <stdbool.h>
#include <string.h>

#include "base/arch.h"
#include "sample/unwind_cache.h"
#include "sample/unwind_code.h"
#include "sample/unwind_frames.h"
#include "sample/unwind_java.h"
#include "sample/unwind_region.h"
#include "sample/unwind_step.h"
#include "target/code_finder.h"

#define MUCH_CODE 1000 /* instructions followed in one walk */
#define MANY_FRAMES 64

/* As many frames with known simple rules as there are. The walk stands at the first other one afterwards. */
static enum col_unwind_step walk_simple_frames(struct col_unwind_state *walk, struct col_unwind_frames *output,
                                               enum col_stack_end *end)
{
    struct col_unwind_simple place = {walk->regs.pc, walk->regs.sp, walk->regs.fp};
    struct col_unwind_rules rules = walk->rules;
    size_t n = output->count, max = output->max;
    enum col_unwind_step step = COL_STEP_ON;
    while (n < max) {
        col_unwind_rule rule = col_unwind_cache_find(rules, col_unwind_place(place.pc, false));
        if ((rule & (COL_RULE_TYPE_MASK | COL_RULE_AT_START)) != COL_RULE_SIMPLE)
            break;
        if (output->sps != NULL)
            output->sps[n] = place.sp;
        output->pcs[n++] = place.pc;
        if (!col_unwind_step_simply(&walk->reader, rule, &place, end)) {
            step = COL_STEP_END;
            break;
        }
    }
    if (n > output->count)
        walk->known = COL_UNWIND_BASIC_REGISTERS; /* a simple rule does not follow the others */
    output->count = n;
    walk->regs.pc = place.pc;
    walk->regs.sp = place.sp;
    walk->regs.fp = place.fp;
    return step;
}

/* One frame of any kind. */
static enum col_unwind_step walk_frame(struct col_unwind_state *walk, struct col_unwind_frames *output,
                                       enum col_stack_end *end)
{
    if (output->count == output->max && !col_unwind_frames_turn(output, &walk->reader, &walk->regs)) {
        *end = COL_END_DEPTH_LIMIT;
        return COL_STEP_END;
    }
    if (output->has_jumped && output->turns == 1) {
        walk->known = COL_UNWIND_BASIC_REGISTERS;
        walk->is_exact = false;
    }
    uintptr_t pc = walk->regs.pc;
    bool is_innermost = output->count == 0;
    if (walk->java != NULL && col_java_runtime_has_code(walk->java, pc)) {
        uintptr_t old_sp = walk->regs.sp;
        switch (col_unwind_java_walk(walk->java, &walk->regs, &walk->reader, &walk->proved, walk->is_exact, output)) {
        case COL_JAVA_LEFT:
            return col_unwind_step_arrive(walk, old_sp, pc, end);
        case COL_JAVA_JUMPED:
            return COL_STEP_ON;
        case COL_JAVA_NO_ROOM:
            *end = COL_END_DEPTH_LIMIT;
            return COL_STEP_END;
        case COL_JAVA_LEFT_NOT:
            break;
        }
    }
    col_unwind_rule rule = col_unwind_cache_find(walk->rules, col_unwind_place(pc, walk->is_exact));
    if (rule == COL_RULE_UNKNOWN)
        rule = col_unwind_step_learn(walk);
    bool is_known = rule != COL_RULE_UNKNOWN && (rule & COL_RULE_TYPE_MASK) != COL_RULE_NO_TABLE &&
                    pc >> COL_ARCH_ADDRESS_BITS == 0; /* else it may be the rule of another place */
    if (!is_known && !is_innermost && !col_code_finder_is_code_in(walk->proved.memory, pc - !walk->is_exact)) {
        *end = COL_END_BAD_PC;
        return COL_STEP_END;
    }
    if (output->sps != NULL)
        output->sps[output->count] = walk->regs.sp;
    output->pcs[output->count++] = pc + (!is_innermost && (walk->is_exact || rule & COL_RULE_AT_START));
    if ((rule & COL_RULE_TYPE_MASK) == COL_RULE_TABLE && !walk->is_exact &&
        col_unwind_region_leave(&walk->region, output, &walk->reader, &walk->regs))
        return col_unwind_step_to_opener(walk, end);
    if ((rule & COL_RULE_TYPE_MASK) != COL_RULE_SIMPLE || col_unwind_frames_total(output) <= walk->full_until)
        return col_unwind_step_rarely(walk, rule, col_unwind_frames_total(output) - 1, end);

    struct col_unwind_simple place = {pc, walk->regs.sp, walk->regs.fp};
    if (!col_unwind_step_simply(&walk->reader, rule, &place, end))
        return COL_STEP_END;
    walk->regs.pc = place.pc;
    walk->regs.sp = place.sp;
    walk->regs.fp = place.fp;
    walk->known = COL_UNWIND_BASIC_REGISTERS;
    walk->is_exact = false;
    return COL_STEP_ON;
}

/* Walks from the registers that the walk has. */
static enum col_unwind_step walk_frames(struct col_unwind_state *walk, struct col_unwind_frames *output,
                                        enum col_stack_end *end)
{
    enum col_unwind_step step = COL_STEP_ON;
    while (step == COL_STEP_ON) {
        if (walk->is_exact || col_unwind_frames_total(output) < walk->full_until)
            step = walk_frame(walk, output, end);
        else if ((step = walk_simple_frames(walk, output, end)) == COL_STEP_ON)
            step = walk_frame(walk, output, end);
        if (step == COL_STEP_END && *end == COL_END_COMPLETE &&
            col_unwind_region_join_last(&walk->region, output, &walk->reader, &walk->regs))
            step = col_unwind_step_to_opener(walk, end);
    }
    return step;
}

/* A guess that led to the start of the thread is believed, and named; what any other led to is not. */
static void judge_guess(const struct col_unwind_state *walk, struct col_unwind_frames *output, enum col_stack_end *end)
{
    if (*end == COL_END_COMPLETE) {
        *end = COL_END_GUESSED;
    } else if (*end != COL_END_DEPTH_LIMIT) {
        bool is_deep = output->turns > 0 && walk->guessed_at >= output->max / 2;
        *end = is_deep ? COL_END_DEPTH_LIMIT : COL_END_NO_UNWIND_INFO;
        if (!is_deep)
            col_unwind_frames_cut(output, walk->guessed_at + 1);
    }
}

/* What is known of the leaf. */
static void begin_at(struct col_unwind_state *walk, const ucontext_t *context, const struct col_unwind_remote *remote)
{
    walk->known = context != NULL ? COL_UNWIND_ALL_REGISTERS : COL_UNWIND_BASIC_REGISTERS;
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
    struct col_unwind_state walk; /* set field by field: most of it is registers, which each attempt takes anew */
    *end = COL_END_DEPTH_LIMIT;
    walk.java = remote != NULL ? remote->java : col_java_runtime();
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
        walk.recent[0].pc = walk.recent[1].pc = walk.next_recent = 0;
        walk.guessed_at = SIZE_MAX;
        col_unwind_frames_begin(&output);
        if (remote != NULL)
            col_safe_read_begin_remote(&walk.reader, &unknown, remote->memory);
        else
            col_safe_read_begin(&walk.reader, bounds ? bounds : &unknown, walk.regs.sp);
        if (walk_frames(&walk, &output, end) != COL_STEP_NEEDS_REGISTERS ||
            col_unwind_frames_total(&output) <= walk.full_until)
            break;
        col_unwind_region_finish(&walk.region);
        walk.full_until = attempt == 0 ? col_unwind_frames_total(&output) : SIZE_MAX;
    }
    col_unwind_region_finish(&walk.region);
    if (output.deep != NULL)
        output.deep->is_costly =
            col_unwind_frames_total(&output) >= MANY_FRAMES || walk.code_budget < COL_CODE_BUDGET - MUCH_CODE;
    if (remote != NULL)
        remote->last = (struct col_stack_mark){walk.regs.pc, walk.regs.sp, walk.regs.fp};
    if (walk.guessed_at != SIZE_MAX)
        judge_guess(&walk, &output, end);
    bool is_rooted = *end == COL_END_COMPLETE || *end == COL_END_GUESSED;
    if (col_unwind_frames_finish(&output, is_rooted, *end == COL_END_DEPTH_LIMIT))
        *end = COL_END_DEPTH_LIMIT;
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
    struct col_deep_stack deep = {.debt = 0};
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
