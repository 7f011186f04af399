/* unwind_row.c -- the row of an unwind table that holds at one address */
#include "sample/unwind_row.h"

#include <string.h>

#include "base/cursor.h"

enum instruction {
    CFA_NOP = 0x00,
    CFA_SET_LOC,
    CFA_ADVANCE_LOC1,
    CFA_ADVANCE_LOC2,
    CFA_ADVANCE_LOC4,
    CFA_OFFSET_EXTENDED,
    CFA_RESTORE_EXTENDED,
    CFA_UNDEFINED,
    CFA_SAME_VALUE,
    CFA_REGISTER,
    CFA_REMEMBER_STATE,
    CFA_RESTORE_STATE,
    CFA_DEF_CFA,
    CFA_DEF_CFA_REGISTER,
    CFA_DEF_CFA_OFFSET,
    CFA_DEF_CFA_EXPRESSION,
    CFA_EXPRESSION,
    CFA_OFFSET_EXTENDED_SF,
    CFA_DEF_CFA_SF,
    CFA_DEF_CFA_OFFSET_SF,
    CFA_VAL_OFFSET,
    CFA_VAL_OFFSET_SF,
    CFA_VAL_EXPRESSION,
    CFA_AARCH64_NEGATE_RA_STATE = 0x2d, /* we strip signatures from every return address anyway */
    CFA_GNU_ARGS_SIZE = 0x2e,
    CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
    CFA_ADVANCE_LOC = 1, /* these three in the upper two bits, with an operand in the lower six */
    CFA_OFFSET = 2,
    CFA_RESTORE = 3,
};

enum {
    REMEMBERED_ROWS = 4, /* compilers remember one */
};

/* The run of an FDE's instructions up to the row for `target`. */
struct program {
    struct col_cursor code;
    const struct col_eh_fde *fde;
    uintptr_t location, target;
    bool is_past_target;
    unsigned depth;
    struct col_unwind_row *row; /* worked on where the caller wants it: a copy would wait for the last bytes stored */
    struct col_unwind_row remembered[REMEMBERED_ROWS];
    bool has_initial;
    struct col_unwind_row initial; /* what the CIE says, if that was asked for */
};

static bool find_initial_row(struct program *program);

static void set_place(struct program *program, uint64_t dwarf_register, enum col_unwind_register_kind kind,
                      int64_t value)
{
    int slot = col_arch_saved_slot(dwarf_register);
    if (value < INT32_MIN || value > INT32_MAX)
        program->code.failed = true;
    else if (slot >= 0)
        program->row->saved[slot] = (struct col_unwind_register){(int32_t)value, (uint8_t)kind};
}

/* For offsets that are counted in units of the data alignment factor. */
static void set_factored(struct program *program, uint64_t dwarf_register, enum col_unwind_register_kind kind,
                         int64_t factored)
{
    int64_t value;
    if (__builtin_mul_overflow(factored, program->fde->cie.data_factor, &value))
        program->code.failed = true;
    else
        set_place(program, dwarf_register, kind, value);
}

/* To what the CIE says. That is asked for so seldom that it is found out only then. */
static void restore_place(struct program *program, uint64_t dwarf_register)
{
    int slot = col_arch_saved_slot(dwarf_register);
    if (slot < 0)
        return;
    if (program->has_initial || find_initial_row(program))
        program->row->saved[slot] = program->initial.saved[slot];
    else
        program->code.failed = true;
}

static void set_cfa_register(struct program *program, uint64_t dwarf_register)
{
    program->row->cfa_register = (uint8_t)dwarf_register;
    program->row->cfa_is_expression = false;
    if (dwarf_register >= COL_DWARF_REGS)
        program->code.failed = true;
}

static void set_cfa_offset(struct program *program, int64_t offset, int64_t factor)
{
    int64_t value;
    if (__builtin_mul_overflow(offset, factor, &value) || value < INT32_MIN || value > INT32_MAX)
        program->code.failed = true;
    else
        program->row->cfa_offset = (int32_t)value;
}

/* Skips the expression's bytes and gives its distance from the FDE. */
static int64_t take_expression(struct program *program)
{
    int64_t distance = program->code.at - program->fde->start;
    col_cursor_skip(&program->code, col_cursor_uleb(&program->code));
    return distance;
}

static void advance(struct program *program, uint64_t units)
{
    uintptr_t location = program->location + units * program->fde->cie.code_factor;
    if (location > program->target)
        program->is_past_target = true;
    else
        program->location = location;
}

static void set_location(struct program *program)
{
    uintptr_t location = col_cursor_pointer(&program->code, program->fde->cie.pointer_encoding, 0);
    if (location > program->target)
        program->is_past_target = true;
    else
        program->location = location;
}

static void remember_row(struct program *program)
{
    if (program->depth == REMEMBERED_ROWS)
        program->code.failed = true;
    else
        program->remembered[program->depth++] = *program->row;
}

static void restore_row(struct program *program)
{
    if (program->depth == 0)
        program->code.failed = true;
    else
        *program->row = program->remembered[--program->depth];
}

static void run_cfa_instruction(struct program *program, unsigned instruction)
{
    struct col_cursor *code = &program->code;
    switch (instruction) {
    case CFA_DEF_CFA:
        set_cfa_register(program, col_cursor_uleb(code));
        set_cfa_offset(program, (int64_t)col_cursor_uleb(code), 1);
        break;
    case CFA_DEF_CFA_SF:
        set_cfa_register(program, col_cursor_uleb(code));
        set_cfa_offset(program, col_cursor_sleb(code), program->fde->cie.data_factor);
        break;
    case CFA_DEF_CFA_REGISTER:
        set_cfa_register(program, col_cursor_uleb(code));
        break;
    case CFA_DEF_CFA_OFFSET:
        set_cfa_offset(program, (int64_t)col_cursor_uleb(code), 1);
        break;
    case CFA_DEF_CFA_OFFSET_SF:
        set_cfa_offset(program, col_cursor_sleb(code), program->fde->cie.data_factor);
        break;
    default: /* CFA_DEF_CFA_EXPRESSION */
        program->row->cfa_is_expression = true;
        set_cfa_offset(program, take_expression(program), 1);
    }
}

static void run_register_instruction(struct program *program, unsigned instruction)
{
    struct col_cursor *code = &program->code;
    uint64_t reg = col_cursor_uleb(code);
    switch (instruction) {
    case CFA_OFFSET_EXTENDED:
        set_factored(program, reg, COL_REGISTER_AT_OFFSET, (int64_t)col_cursor_uleb(code));
        break;
    case CFA_OFFSET_EXTENDED_SF:
        set_factored(program, reg, COL_REGISTER_AT_OFFSET, col_cursor_sleb(code));
        break;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        set_factored(program, reg, COL_REGISTER_AT_OFFSET, -(int64_t)(col_cursor_uleb(code) & INT32_MAX));
        break;
    case CFA_VAL_OFFSET:
        set_factored(program, reg, COL_REGISTER_IS_OFFSET, (int64_t)col_cursor_uleb(code));
        break;
    case CFA_VAL_OFFSET_SF:
        set_factored(program, reg, COL_REGISTER_IS_OFFSET, col_cursor_sleb(code));
        break;
    case CFA_REGISTER:
        set_place(program, reg, COL_REGISTER_IN_REGISTER, (int64_t)(col_cursor_uleb(code) & INT32_MAX));
        break;
    case CFA_EXPRESSION:
        set_place(program, reg, COL_REGISTER_AT_EXPRESSION, take_expression(program));
        break;
    case CFA_VAL_EXPRESSION:
        set_place(program, reg, COL_REGISTER_IS_EXPRESSION, take_expression(program));
        break;
    case CFA_UNDEFINED:
        set_place(program, reg, COL_REGISTER_UNDEFINED, 0);
        break;
    case CFA_SAME_VALUE:
        set_place(program, reg, COL_REGISTER_SAME, 0);
        break;
    default:
        restore_place(program, reg); /* CFA_RESTORE_EXTENDED */
    }
}

static void run_instruction(struct program *program)
{
    struct col_cursor *code = &program->code;
    unsigned instruction = col_cursor_u8(code), operand = instruction & 0x3f;
    switch (instruction >> 6) {
    case CFA_ADVANCE_LOC:
        advance(program, operand);
        return;
    case CFA_OFFSET:
        set_factored(program, operand, COL_REGISTER_AT_OFFSET, (int64_t)col_cursor_uleb(code));
        return;
    case CFA_RESTORE:
        restore_place(program, operand);
        return;
    }
    switch (instruction) {
    case CFA_NOP:
    case CFA_AARCH64_NEGATE_RA_STATE:
        break;
    case CFA_SET_LOC:
        set_location(program);
        break;
    case CFA_ADVANCE_LOC1:
        advance(program, col_cursor_u8(code));
        break;
    case CFA_ADVANCE_LOC2:
        advance(program, col_cursor_u16(code));
        break;
    case CFA_ADVANCE_LOC4:
        advance(program, col_cursor_u32(code));
        break;
    case CFA_REMEMBER_STATE:
        remember_row(program);
        break;
    case CFA_RESTORE_STATE:
        restore_row(program);
        break;
    case CFA_GNU_ARGS_SIZE:
        col_cursor_uleb(code);
        break;
    default:
        if (instruction >= CFA_DEF_CFA && instruction <= CFA_DEF_CFA_EXPRESSION)
            run_cfa_instruction(program, instruction);
        else if (instruction == CFA_DEF_CFA_SF || instruction == CFA_DEF_CFA_OFFSET_SF)
            run_cfa_instruction(program, instruction);
        else if (instruction <= CFA_VAL_EXPRESSION || instruction == CFA_GNU_NEGATIVE_OFFSET_EXTENDED)
            run_register_instruction(program, instruction);
        else
            code->failed = true;
    }
}

/* DW_CFA_offset, where both numbers are small. */
static void save_at(struct col_unwind_row *row, unsigned dwarf_register, int64_t offset)
{
    int slot = col_arch_saved_slot(dwarf_register);
    if (slot >= 0)
        row->saved[slot] = (struct col_unwind_register){(int32_t)offset, COL_REGISTER_AT_OFFSET};
}

/* Runs the instructions that nearly all programs are made of, while their numbers have one byte. Returns where another
   one stands. */
static const uint8_t *run_common(struct program *program, const uint8_t *at, const uint8_t *end)
{
    const struct col_eh_cie *cie = &program->fde->cie;
    if (cie->data_factor != (int8_t)cie->data_factor)
        return at;
    while (end - at >= 2) {
        unsigned kind = at[0] >> 6, operand = at[0] & 0x3f;
        if (kind == CFA_ADVANCE_LOC) {
            at++;
            advance(program, operand);
            if (program->is_past_target)
                return at;
            /* What goes with a push is taken in one go: fewer turns to guess wrong. */
            if (end - at >= 4 && at[0] == CFA_DEF_CFA_OFFSET && at[2] >> 6 == CFA_OFFSET && (at[1] | at[3]) < 0x80) {
                program->row->cfa_offset = at[1];
                save_at(program->row, at[2] & 0x3f, at[3] * cie->data_factor);
                at += 4;
            }
        } else if (at[1] < 0x80 && at[0] == CFA_DEF_CFA_OFFSET) {
            program->row->cfa_offset = at[1];
            at += 2;
        } else if (at[1] < 0x80 && kind == CFA_OFFSET) {
            save_at(program->row, operand, at[1] * cie->data_factor);
            at += 2;
        } else {
            break;
        }
    }
    return at;
}

static bool run(struct program *program, const uint8_t *begin, const uint8_t *end)
{
    program->code = (struct col_cursor){begin, end, false, program->fde->to_original};
    while (program->code.at < end && !program->is_past_target && !program->code.failed) {
        program->code.at = run_common(program, program->code.at, end);
        if (!program->is_past_target && program->code.at < end)
            run_instruction(program);
    }
    return !program->code.failed;
}

static void prepare(struct program *program, const struct col_eh_fde *fde, uintptr_t target, struct col_unwind_row *row)
{
    memset(row, 0, sizeof *row);
    program->fde = fde;
    program->row = row;
    program->target = target;
    program->location = fde->low;
    program->is_past_target = false;
    program->depth = 0;
    program->has_initial = false;
}

/* What holds where the FDE's own instructions begin: the CIE's are run anew, and the FDE's go on where they were. A CIE has
   nothing to go back to. */
static bool find_initial_row(struct program *program)
{
    const struct col_eh_cie *cie = &program->fde->cie;
    struct col_unwind_row *row = program->row;
    struct col_cursor code = program->code;
    uintptr_t location = program->location;
    unsigned depth = program->depth;
    if (row == &program->initial || code.end == cie->end)
        return false;
    memset(&program->initial, 0, sizeof program->initial);
    program->row = &program->initial;
    program->has_initial = run(program, cie->instructions, cie->end);
    program->row = row;
    program->code = code;
    program->location = location;
    program->depth = depth;
    program->is_past_target = false;
    return program->has_initial;
}

bool col_unwind_row_find(const struct col_eh_fde *fde, uintptr_t pc, struct col_unwind_row *row)
{
    struct program program;
    prepare(&program, fde, pc, row);
    return run(&program, fde->cie.instructions, fde->cie.end) && run(&program, fde->instructions, fde->end);
}
