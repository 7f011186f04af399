/* unwind_cfi.c -- unwind tables: from the registers of a frame to those of its caller */
#include "sample/unwind_cfi.h"

#include <string.h>

#include "base/dwarf_cursor.h"
#include "sample/unwind_expression.h"

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
    struct col_cfi_row row, initial, remembered[REMEMBERED_ROWS];
};

static void set_place(struct program *program, uint64_t dwarf_register, enum col_cfi_kind kind, int64_t value)
{
    int slot = col_arch_saved_slot(dwarf_register);
    if (value < INT32_MIN || value > INT32_MAX)
        program->code.failed = true;
    else if (slot >= 0)
        program->row.saved[slot] = (struct col_cfi_place){(int32_t)value, (uint8_t)kind};
}

/* For offsets that are counted in units of the data alignment factor. */
static void set_factored(struct program *program, uint64_t dwarf_register, enum col_cfi_kind kind, int64_t factored)
{
    int64_t value;
    if (__builtin_mul_overflow(factored, program->fde->cie.data_factor, &value))
        program->code.failed = true;
    else
        set_place(program, dwarf_register, kind, value);
}

static void restore_place(struct program *program, uint64_t dwarf_register)
{
    int slot = col_arch_saved_slot(dwarf_register);
    if (slot >= 0)
        program->row.saved[slot] = program->initial.saved[slot];
}

static void set_cfa_register(struct program *program, uint64_t dwarf_register)
{
    program->row.cfa_register = (uint8_t)dwarf_register;
    program->row.cfa_is_expression = false;
    if (dwarf_register >= COL_DWARF_REGS)
        program->code.failed = true;
}

static void set_cfa_offset(struct program *program, int64_t offset, int64_t factor)
{
    int64_t value;
    if (__builtin_mul_overflow(offset, factor, &value) || value < INT32_MIN || value > INT32_MAX)
        program->code.failed = true;
    else
        program->row.cfa_offset = (int32_t)value;
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
        program->remembered[program->depth++] = program->row;
}

static void restore_row(struct program *program)
{
    if (program->depth == 0)
        program->code.failed = true;
    else
        program->row = program->remembered[--program->depth];
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
    case CFA_DEF_CFA_REGISTER: set_cfa_register(program, col_cursor_uleb(code)); break;
    case CFA_DEF_CFA_OFFSET: set_cfa_offset(program, (int64_t)col_cursor_uleb(code), 1); break;
    case CFA_DEF_CFA_OFFSET_SF: set_cfa_offset(program, col_cursor_sleb(code), program->fde->cie.data_factor); break;
    default: /* CFA_DEF_CFA_EXPRESSION */
        program->row.cfa_is_expression = true;
        set_cfa_offset(program, take_expression(program), 1);
    }
}

static void run_register_instruction(struct program *program, unsigned instruction)
{
    struct col_cursor *code = &program->code;
    uint64_t reg = col_cursor_uleb(code);
    switch (instruction) {
    case CFA_OFFSET_EXTENDED: set_factored(program, reg, COL_CFI_AT_OFFSET, (int64_t)col_cursor_uleb(code)); break;
    case CFA_OFFSET_EXTENDED_SF: set_factored(program, reg, COL_CFI_AT_OFFSET, col_cursor_sleb(code)); break;
    case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
        set_factored(program, reg, COL_CFI_AT_OFFSET, -(int64_t)(col_cursor_uleb(code) & INT32_MAX));
        break;
    case CFA_VAL_OFFSET: set_factored(program, reg, COL_CFI_IS_OFFSET, (int64_t)col_cursor_uleb(code)); break;
    case CFA_VAL_OFFSET_SF: set_factored(program, reg, COL_CFI_IS_OFFSET, col_cursor_sleb(code)); break;
    case CFA_REGISTER: set_place(program, reg, COL_CFI_IN_REGISTER, (int64_t)(col_cursor_uleb(code) & INT32_MAX)); break;
    case CFA_EXPRESSION: set_place(program, reg, COL_CFI_AT_EXPRESSION, take_expression(program)); break;
    case CFA_VAL_EXPRESSION: set_place(program, reg, COL_CFI_IS_EXPRESSION, take_expression(program)); break;
    case CFA_UNDEFINED: set_place(program, reg, COL_CFI_UNDEFINED, 0); break;
    case CFA_SAME_VALUE: set_place(program, reg, COL_CFI_SAME, 0); break;
    default: restore_place(program, reg); /* CFA_RESTORE_EXTENDED */
    }
}

static void run_instruction(struct program *program)
{
    struct col_cursor *code = &program->code;
    unsigned instruction = col_cursor_u8(code), operand = instruction & 0x3f;
    switch (instruction >> 6) {
    case CFA_ADVANCE_LOC: advance(program, operand); return;
    case CFA_OFFSET: set_factored(program, operand, COL_CFI_AT_OFFSET, (int64_t)col_cursor_uleb(code)); return;
    case CFA_RESTORE: restore_place(program, operand); return;
    }
    switch (instruction) {
    case CFA_NOP:
    case CFA_AARCH64_NEGATE_RA_STATE: break;
    case CFA_SET_LOC: set_location(program); break;
    case CFA_ADVANCE_LOC1: advance(program, col_cursor_u8(code)); break;
    case CFA_ADVANCE_LOC2: advance(program, col_cursor_u16(code)); break;
    case CFA_ADVANCE_LOC4: advance(program, col_cursor_u32(code)); break;
    case CFA_REMEMBER_STATE: remember_row(program); break;
    case CFA_RESTORE_STATE: restore_row(program); break;
    case CFA_GNU_ARGS_SIZE: col_cursor_uleb(code); break;
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

static bool run(struct program *program, const uint8_t *begin, const uint8_t *end)
{
    program->code = (struct col_cursor){begin, end, false};
    while (program->code.at < end && !program->is_past_target && !program->code.failed)
        run_instruction(program);
    return !program->code.failed;
}

bool col_cfi_find_row(const struct col_eh_fde *fde, uintptr_t pc, struct col_cfi_row *row)
{
    struct program program;
    memset(&program.row, 0, sizeof program.row);
    program.initial = program.row;
    program.fde = fde;
    program.target = pc;
    program.location = fde->low;
    program.is_past_target = false;
    program.depth = 0;
    if (!run(&program, fde->cie.instructions, fde->cie.end))
        return false;
    program.initial = program.row;
    if (!run(&program, fde->instructions, fde->end))
        return false;
    *row = program.row;
    return true;
}

static const struct col_cfi_place *place_of(const struct col_cfi_row *row, unsigned dwarf_register)
{
    return &row->saved[col_arch_saved_slot(dwarf_register)];
}

col_unwind_rule col_cfi_pack(const struct col_eh_fde *fde, const struct col_cfi_row *row)
{
    const struct col_cfi_place *fp = place_of(row, COL_DWARF_FP);
    const struct col_cfi_place *return_address = place_of(row, COL_ARCH_RETURN_COLUMN);
    if (fde->cie.is_signal_frame)
        return COL_RULE_SIGNAL;
    if (return_address->kind == COL_CFI_UNDEFINED)
        return COL_RULE_OUTERMOST;
    bool from_fp = row->cfa_register == COL_DWARF_FP;
    bool is_simple = !row->cfa_is_expression && (from_fp || row->cfa_register == COL_DWARF_SP)
                     && place_of(row, COL_DWARF_SP)->kind == COL_CFI_SAME
                     && (fp->kind == COL_CFI_SAME || fp->kind == COL_CFI_AT_OFFSET)
                     && fde->cie.return_column == COL_ARCH_RETURN_COLUMN
                     && return_address->kind == COL_CFI_AT_OFFSET
                     && (COL_ARCH_RETURN_OFFSET == 0 || return_address->value == COL_ARCH_RETURN_OFFSET);
    bool fp_is_saved = fp->kind == COL_CFI_AT_OFFSET;
    unsigned flags = (from_fp ? COL_RULE_FROM_FP : 0u) | (fp_is_saved ? COL_RULE_FP_IS_SAVED : 0u);
    col_unwind_rule rule;
    if (is_simple
        && col_unwind_rule_pack(row->cfa_offset, fp_is_saved ? fp->value : 0, return_address->value, flags, &rule))
        return rule;
    return COL_RULE_TABLE;
}

/* Everything that a place may refer to. */
struct application {
    const struct col_eh_fde *fde;
    struct col_expression_scene scene;
    uintptr_t cfa;
};

static bool knows(const struct application *application, int64_t dwarf_register)
{
    return dwarf_register >= 0 && dwarf_register < COL_DWARF_REGS
           && application->scene.known >> dwarf_register & 1;
}

static enum col_cfi_answer find_cfa(struct application *application, const struct col_cfi_row *row)
{
    if (row->cfa_is_expression)
        return col_expression_evaluate(&application->scene, application->fde->start + row->cfa_offset, NULL,
                                       &application->cfa)
                   ? COL_CFI_DONE
                   : COL_CFI_REGISTER_NOT_KNOWN;
    if (!knows(application, row->cfa_register))
        return COL_CFI_REGISTER_NOT_KNOWN;
    application->cfa = application->scene.regs->dwarf[row->cfa_register] + (uintptr_t)(intptr_t)row->cfa_offset;
    return COL_CFI_DONE;
}

/* The caller's value of one register. */
static enum col_cfi_answer find_value(struct application *application, unsigned dwarf_register,
                                      struct col_cfi_place place, uintptr_t *value)
{
    struct col_stack_reader *reader = application->scene.reader;
    uintptr_t offset_from_cfa = application->cfa + (uintptr_t)(intptr_t)place.value, address;
    const uint8_t *expression = application->fde->start + place.value;
    unsigned source = place.kind == COL_CFI_IN_REGISTER ? (unsigned)place.value : dwarf_register;
    switch (place.kind) {
    case COL_CFI_SAME:
    case COL_CFI_IN_REGISTER:
        if (dwarf_register == COL_DWARF_SP && place.kind == COL_CFI_SAME) {
            *value = application->cfa;
            return COL_CFI_DONE;
        }
        if (!knows(application, source))
            return COL_CFI_REGISTER_NOT_KNOWN;
        *value = application->scene.regs->dwarf[source];
        return COL_CFI_DONE;
    case COL_CFI_UNDEFINED: return COL_CFI_REGISTER_NOT_KNOWN;
    case COL_CFI_AT_OFFSET:
        return col_safe_read_stack(reader, offset_from_cfa, value) ? COL_CFI_DONE : COL_CFI_UNREADABLE;
    case COL_CFI_IS_OFFSET: *value = offset_from_cfa; return COL_CFI_DONE;
    case COL_CFI_AT_EXPRESSION:
        if (!col_expression_evaluate(&application->scene, expression, &application->cfa, &address))
            return COL_CFI_REGISTER_NOT_KNOWN;
        return col_safe_read_stack(reader, address, value) ? COL_CFI_DONE : COL_CFI_UNREADABLE;
    default: /* COL_CFI_IS_EXPRESSION */
        return col_expression_evaluate(&application->scene, expression, &application->cfa, value)
                   ? COL_CFI_DONE
                   : COL_CFI_REGISTER_NOT_KNOWN;
    }
}

static void commit(struct col_cfi_frame *frame, const uintptr_t *values, uint64_t known)
{
    struct col_regs *regs = frame->regs;
    for (unsigned i = 0; i < COL_ARCH_SAVED_COUNT; i++)
        if (known >> col_arch_saved[i] & 1)
            regs->dwarf[col_arch_saved[i]] = values[i];
    regs->pc = col_arch_strip_return(regs->dwarf[COL_ARCH_RETURN_COLUMN]);
    regs->dwarf[COL_DWARF_PC] = regs->pc;
    regs->sp = regs->dwarf[COL_DWARF_SP];
    regs->fp = regs->dwarf[COL_DWARF_FP];
    frame->known = known | UINT64_C(1) << COL_DWARF_PC;
}

enum col_cfi_answer col_cfi_apply(const struct col_eh_fde *fde, const struct col_cfi_row *row,
                                  struct col_stack_reader *reader, struct col_cfi_frame *frame, bool *sp_is_saved)
{
    struct application application = {.fde = fde, .scene = {frame->regs, frame->known, reader}};
    uintptr_t values[COL_ARCH_SAVED_COUNT];
    uint64_t known = 0;
    if (fde->cie.return_column != COL_ARCH_RETURN_COLUMN)
        return COL_CFI_NOT_SENSIBLE;
    if (place_of(row, COL_ARCH_RETURN_COLUMN)->kind == COL_CFI_UNDEFINED)
        return COL_CFI_OUTERMOST;
    enum col_cfi_answer answer = find_cfa(&application, row);
    if (answer != COL_CFI_DONE)
        return answer;
    for (unsigned i = 0; i < COL_ARCH_SAVED_COUNT; i++) {
        unsigned reg = col_arch_saved[i];
        answer = find_value(&application, reg, row->saved[i], &values[i]);
        if (answer == COL_CFI_DONE)
            known |= UINT64_C(1) << reg;
        else if (reg == COL_DWARF_SP || reg == COL_ARCH_RETURN_COLUMN
                 || (reg == COL_DWARF_FP && row->saved[i].kind != COL_CFI_UNDEFINED))
            return answer; /* without these the walk cannot go on; any other may stay unknown */
    }
    *sp_is_saved = place_of(row, COL_DWARF_SP)->kind != COL_CFI_SAME;
    commit(frame, values, known);
    return COL_CFI_DONE;
}
