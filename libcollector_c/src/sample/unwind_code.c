/* unwind_code.c -- leaving a frame by following its instructions to where they return
 *
 * Compilers keep the stack pointer's distance from the return address the same on every path, so any path to a return
 * tells it. Paths that the program does not take (behind a call that never comes back) can lead astray: an exit counts only if
 * there is a return address in its place.
 */
#include "sample/unwind_code.h"

#include "target/code_finder.h"

enum {
    MOST_INSTRUCTIONS = 1000,
    MOST_PATHS = 12,               /* branches not yet taken */
    MOST_ENTRY_INSTRUCTIONS = 40,  /* that make a frame */
    MOST_SWITCH_INSTRUCTIONS = 32, /* from loading sp to a return */
    LARGEST_FRAME_WORDS = 256,
    PROBE_COST = 30,                 /* of a system call, in instructions */
    VISITED_WORDS = 8,               /* of 64 bits: targets of branches, hashed */
    LONGEST_FUNCTION_BYTES = 1 << 16 /* from a function's start to a place in it */
};

struct path {
    uintptr_t pc;
    struct col_stack_state state;
    bool has_branched, has_called;
};

struct search {
    const struct col_regs *regs;
    struct col_stack_reader *reader;
    struct col_proved_pages *proved;
    uint64_t visited[VISITED_WORDS];
    struct path paths[MOST_PATHS];
    unsigned path_count;
    bool has_exit; /* one that lacks evidence */
};

static bool follows_call(uintptr_t address, struct col_proved_pages *proved)
{
    const uint8_t *code = col_safe_read_view(proved, address - COL_ARCH_CALL_BYTES, COL_ARCH_CALL_BYTES);
    return code != NULL && col_arch_ends_in_call(code + COL_ARCH_CALL_BYTES);
}

bool col_unwind_code_is_return_address(uintptr_t address, struct col_proved_pages *proved)
{
    return col_code_finder_is_known_code_in(proved->memory, address - 1) && follows_call(address, proved);
}

static uintptr_t resolve(const struct col_regs *regs, struct col_stack_place place)
{
    return (place.from_fp ? regs->fp : regs->sp) + (uintptr_t)(intptr_t)place.offset;
}

/* True the second time. Two targets may pass for one: then a path is given up. */
static bool was_visited(struct search *search, uintptr_t target)
{
    unsigned hash = (unsigned)((uint64_t)target * 0x9e3779b97f4a7c15u >> 55);
    uint64_t bit = (uint64_t)1 << (hash & 63), *word = &search->visited[hash >> 6];
    bool was = (*word & bit) != 0;
    *word |= bit;
    return was;
}

static void add_path(struct search *search, uintptr_t target, const struct col_stack_state *state, bool has_called)
{
    if (search->path_count < MOST_PATHS && !was_visited(search, target))
        search->paths[search->path_count++] = (struct path){target, *state, true, has_called};
}

/* Decodes at most to the page's end if the next page is not there. */
static void follow(struct col_proved_pages *proved, struct path *path, struct col_instruction *instruction)
{
    size_t size = COL_INSTRUCTION_BYTES, rest = COL_PAGE_BYTES - path->pc % COL_PAGE_BYTES;
    const uint8_t *code = col_safe_read_view(proved, path->pc, size);
    if (code == NULL && rest < size)
        code = col_safe_read_view(proved, path->pc, size = rest);
    col_instruction_follow(code, code != NULL ? size : 0, &path->state, instruction);
    path->pc += instruction->bytes;
}

/* True when the function that begins there may be the frame's. */
static bool is_near(const struct search *search, uintptr_t function)
{
    return function != 0 && search->regs->pc - function < LONGEST_FUNCTION_BYTES;
}

/* Does the exit hold what it should? Some proof is better than none: a call that leads to this function, or not there. */
enum evidence { EVIDENCE_NONE, EVIDENCE_WEAK, EVIDENCE_STRONG };

static enum evidence judge(struct search *search, const struct path *path)
{
    struct col_stack_place at = path->state.sp;
    bool is_only_way = !path->has_branched && !path->has_called;
    uintptr_t address, called;
    if ((!at.from_fp && at.offset < 0) || !col_safe_read_stack(search->reader, resolve(search->regs, at), &address))
        return EVIDENCE_NONE;
    address = col_arch_strip_return(address);
    if (address == 0) /* a thread's first function may have been given 0 to return to */
        return is_only_way ? EVIDENCE_STRONG : EVIDENCE_NONE;
    bool has_call = follows_call(address, search->proved);
    if ((!has_call && !is_only_way) || !col_code_finder_is_code_in(search->proved->memory, address - 1))
        return EVIDENCE_NONE;
    if (!has_call)
        return EVIDENCE_STRONG;
    called = path->has_called ? col_arch_called_address(search->proved, address) : 0;
    return called == 0 || is_near(search, called) ? EVIDENCE_STRONG : EVIDENCE_WEAK;
}

/* What both the code and the frame record say is told by the record, which is no guess. */
static struct col_code_exit by_record_if_same(const struct col_regs *regs, struct col_code_exit exit)
{
    bool is_same = exit.fp_is_restored && exit.released == 0 && resolve(regs, exit.fp) == regs->fp &&
                   resolve(regs, exit.return_at) == regs->fp + sizeof regs->fp;
    return is_same
               ? (struct col_code_exit){.return_at = {sizeof regs->fp, true}, .fp = {0, true}, .fp_is_restored = true}
               : exit;
}

static struct col_code_exit exit_of(const struct search *search, const struct path *path,
                                    const struct col_instruction *instruction)
{
    return by_record_if_same(search->regs,
                             (struct col_code_exit){.return_at = path->state.sp,
                                                    .fp = path->state.fp,
                                                    .fp_is_restored = path->state.fp_origin == COL_FP_LOADED,
                                                    .is_certain = !path->has_called,
                                                    .released = instruction->released});
}

/* Takes the exit if it can be believed; if it lacks evidence, only for want of a better one. */
static bool is_exit(struct search *search, const struct path *path, const struct col_instruction *instruction,
                    struct col_code_exit *exit)
{
    enum evidence evidence = judge(search, path);
    if (evidence == EVIDENCE_NONE || (evidence == EVIDENCE_WEAK && search->has_exit))
        return false;
    *exit = exit_of(search, path, instruction);
    search->has_exit = true;
    return evidence == EVIDENCE_STRONG || col_unwind_code_is_record(exit);
}

/* True when a jump is the function's last instruction, in the place of a call and a return: something went off the stack
   before, and the word that lies there now is where a call to this very function returns to. */
static bool is_tail_call(struct search *search, const struct path *path, const struct col_instruction *instruction,
                         struct col_code_exit *exit)
{
    uintptr_t address;
    if ((!path->state.sp.from_fp && path->state.sp.offset <= 0) ||
        !col_safe_read_stack(search->reader, resolve(search->regs, path->state.sp), &address) ||
        !col_unwind_code_is_return_address(address, search->proved) ||
        !is_near(search, col_arch_called_address(search->proved, address)))
        return false;
    *exit = exit_of(search, path, instruction);
    exit->is_certain = false;
    return true;
}

/* True when the frame record is just done with: what comes is the return, which JavaScript's compiler does in ways of its own. */
static bool has_left_record(const struct path *path)
{
    const struct col_stack_state *state = &path->state;
    return state->fp_origin == COL_FP_LOADED && state->fp.from_fp && state->fp.offset == 0 && state->sp.from_fp &&
           state->sp.offset == sizeof(uintptr_t);
}

/* Follows one path to its end; branches on its way become paths. True at an exit that can be believed. */
static bool try_path(struct search *search, struct path *path, unsigned *left, struct col_code_exit *exit)
{
    struct col_instruction instruction;
    for (; *left > 0; --*left) {
        follow(search->proved, path, &instruction);
        uintptr_t target = path->pc + (uintptr_t)(intptr_t)instruction.target;
        switch (instruction.flow) {
        case COL_FLOW_NEXT:
            if (has_left_record(path) && is_exit(search, path, &instruction, exit))
                return true;
            break;
        case COL_FLOW_CALL:
            path->has_called = true;
            break;
        case COL_FLOW_BRANCH:
            path->has_branched = true;
            add_path(search, target, &path->state, path->has_called);
            break;
        case COL_FLOW_JUMP:
            if (is_tail_call(search, path, &instruction, exit))
                return true;
            if (was_visited(search, target))
                return false;
            path->pc = target;
            break;
        case COL_FLOW_ELSEWHERE:
            return is_tail_call(search, path, &instruction, exit);
        case COL_FLOW_RETURN:
            return is_exit(search, path, &instruction, exit);
        default:
            return false;
        }
    }
    return false;
}

bool col_unwind_code_find_exit(const struct col_regs *regs, struct col_stack_reader *reader,
                               struct col_proved_pages *proved, unsigned *budget, struct col_code_exit *exit)
{
    struct search search; /* paths are set when they are added */
    unsigned most = *budget < MOST_INSTRUCTIONS ? *budget : MOST_INSTRUCTIONS, left = most;
    bool is_found;
    search.regs = regs;
    search.reader = reader;
    search.proved = proved;
    search.has_exit = false;
    search.path_count = 0;
    for (unsigned i = 0; i < VISITED_WORDS; i++)
        search.visited[i] = 0;
    struct path path = {.pc = regs->pc};
    while (!(is_found = try_path(&search, &path, &left, exit)) && search.path_count > 0 && left > 0)
        path = search.paths[--search.path_count];
    *budget -= most - left;
    return is_found || search.has_exit;
}

bool col_unwind_code_is_switch(uintptr_t pc, struct col_proved_pages *proved)
{
    struct path path = {.pc = pc};
    struct col_instruction instruction = {.flow = COL_FLOW_NEXT};
    for (unsigned i = 0; i < MOST_SWITCH_INSTRUCTIONS && instruction.flow == COL_FLOW_NEXT; i++)
        follow(proved, &path, &instruction);
    return instruction.flow == COL_FLOW_RETURN && !path.state.sp.from_fp &&
           path.state.sp.offset == COL_ARCH_RETURN_OFFSET;
}

bool col_unwind_code_leave_switch(struct col_regs *regs, struct col_stack_reader *reader,
                                  struct col_proved_pages *proved)
{
    uintptr_t address;
    if (!col_unwind_code_is_switch(regs->pc, proved) ||
        !col_safe_read_stack(reader, regs->sp - sizeof address, &address) ||
        !col_unwind_code_is_return_address(address, proved))
        return false;
    regs->pc = address;
    return true;
}

/* Follows a function's first instructions to pc, or to the first of them that leads elsewhere. Behind that the frame is made. */
static void enter(struct col_proved_pages *proved, uintptr_t pc, struct path *path)
{
    struct col_instruction instruction;
    for (unsigned i = 0; i < MOST_ENTRY_INSTRUCTIONS && path->pc < pc; i++) {
        struct path before = *path;
        follow(proved, path, &instruction);
        if (instruction.flow == COL_FLOW_UNKNOWN) {
            *path = before;
            return;
        }
        if (instruction.flow != COL_FLOW_NEXT)
            return;
    }
}

/*
 * A word above the stack pointer. If a guess led here this may be nobody's stack, and another thread may unmap it at any time: beyond the stack pointer's page each
 * word is read as soon as it is proved, unless it is the thread's own stack.
 */
static bool read_above(struct col_stack_reader *reader, uintptr_t sp, uintptr_t at, unsigned *budget, uintptr_t *word)
{
    bool is_own = at >= reader->own->low && at < reader->own->high;
    if (is_own || reader->memory != NULL || (sp ^ at) < COL_PAGE_BYTES)
        return col_safe_read_stack(reader, at, word);
    *budget -= *budget > PROBE_COST ? PROBE_COST : *budget - 1;
    return col_safe_read_word(at, word);
}

bool col_unwind_code_find_entry(const struct col_regs *regs, struct col_stack_reader *reader,
                                struct col_proved_pages *proved, unsigned *budget, struct col_code_exit *exit)
{
    uintptr_t address;
    if (COL_ARCH_RETURN_OFFSET == 0) /* calls leave it in a register, and functions where they like */
        return false;
    for (int32_t words = 0; words<LARGEST_FRAME_WORDS && * budget> 0; words++, --*budget) {
        int32_t offset = words * (int32_t)sizeof address;
        if (!read_above(reader, regs->sp, regs->sp + (uintptr_t)offset, budget, &address))
            return false;
        if (!col_unwind_code_is_return_address(address, proved))
            continue;
        struct path path = {.pc = col_arch_called_address(proved, address)};
        if (path.pc == 0 || regs->pc - path.pc >= LONGEST_FUNCTION_BYTES)
            continue;
        enter(proved, regs->pc, &path);
        if (path.state.sp.from_fp || path.state.sp.offset != -offset)
            continue;
        *exit = (struct col_code_exit){.return_at = {offset, false}};
        if (path.state.has_pushed) { /* from the function's first sp to ours */
            exit->fp_is_restored = true;
            exit->fp = (struct col_stack_place){path.state.pushed.offset + offset, false};
        }
        *exit = by_record_if_same(regs, *exit);
        return true;
    }
    return false;
}

bool col_unwind_code_fp_of(uintptr_t function, uintptr_t pc, uintptr_t sp, struct col_proved_pages *proved,
                           uintptr_t *fp)
{
    struct path path = {.pc = function};
    enter(proved, pc, &path);
    const struct col_stack_state *state = &path.state;
    *fp = sp + (uintptr_t)(intptr_t)state->fp.offset - (uintptr_t)(intptr_t)state->sp.offset;
    return state->fp_origin == COL_FP_POINTS && !state->fp.from_fp && !state->sp.from_fp;
}

bool col_unwind_code_leave(struct col_regs *regs, struct col_stack_reader *reader, const struct col_code_exit *exit)
{
    uintptr_t at = resolve(regs, exit->return_at), fp = regs->fp, pc;
    if (!col_safe_read_stack(reader, at, &pc) ||
        (exit->fp_is_restored && !col_safe_read_stack(reader, resolve(regs, exit->fp), &fp)))
        return false;
    regs->pc = col_arch_strip_return(pc);
    regs->sp = at + sizeof at + exit->released;
    regs->fp = fp;
    return true;
}

bool col_unwind_code_is_record(const struct col_code_exit *exit)
{
    return exit->return_at.from_fp && exit->return_at.offset == sizeof(uintptr_t) && exit->fp_is_restored &&
           exit->fp.from_fp && exit->fp.offset == 0;
}

col_unwind_rule col_unwind_code_pack(const struct col_code_exit *exit)
{
    col_unwind_rule rule;
    int64_t word = sizeof(uintptr_t), cfa = exit->return_at.offset + word;
    bool is_of_one_base = !exit->fp_is_restored || exit->fp.from_fp == exit->return_at.from_fp;
    unsigned flags = (exit->return_at.from_fp ? (unsigned)COL_RULE_FROM_FP : 0u) |
                     (exit->fp_is_restored ? (unsigned)COL_RULE_FP_IS_SAVED : 0u);
    if (!is_of_one_base || exit->released != 0 ||
        !col_unwind_rule_pack(cfa, exit->fp_is_restored ? exit->fp.offset - cfa : 0, -word, flags, &rule))
        return COL_RULE_UNKNOWN;
    return rule;
}
