/* unwind_cfi.c -- unwind tables: from the registers of a frame to those of its caller */
#include "sample/unwind_cfi.h"

#include "sample/unwind_expression.h"

static const struct col_unwind_register *place_of(const struct col_unwind_row *row, unsigned dwarf_register)
{
    return &row->saved[col_arch_saved_slot(dwarf_register)];
}

col_unwind_rule col_unwind_cfi_pack(const struct col_eh_fde *fde, const struct col_unwind_row *row)
{
    const struct col_unwind_register *fp = place_of(row, COL_DWARF_FP);
    const struct col_unwind_register *return_address = place_of(row, COL_ARCH_RETURN_COLUMN);
    if (fde->cie.is_signal_frame)
        return COL_RULE_SIGNAL;
    if (return_address->kind == COL_REGISTER_UNDEFINED)
        return COL_RULE_OUTERMOST;
    bool from_fp = row->cfa_register == COL_DWARF_FP;
    bool is_simple = !row->cfa_is_expression && (from_fp || row->cfa_register == COL_DWARF_SP) &&
                     place_of(row, COL_DWARF_SP)->kind == COL_REGISTER_SAME &&
                     (fp->kind == COL_REGISTER_SAME || fp->kind == COL_REGISTER_AT_OFFSET) &&
                     fde->cie.return_column == COL_ARCH_RETURN_COLUMN &&
                     return_address->kind == COL_REGISTER_AT_OFFSET &&
                     (COL_ARCH_RETURN_OFFSET == 0 || return_address->value == COL_ARCH_RETURN_OFFSET);
    bool fp_is_saved = fp->kind == COL_REGISTER_AT_OFFSET;
    unsigned flags = (from_fp ? COL_RULE_FROM_FP : 0u) | (fp_is_saved ? COL_RULE_FP_IS_SAVED : 0u);
    col_unwind_rule rule;
    if (is_simple &&
        col_unwind_rule_pack(row->cfa_offset, fp_is_saved ? fp->value : 0, return_address->value, flags, &rule))
        return rule;
    return COL_RULE_TABLE;
}

/* Everything that a place may refer to. */
struct application {
    const struct col_eh_fde *fde;
    struct col_unwind_expression_scene scene;
    uintptr_t cfa;
};

static bool knows(const struct application *application, int64_t dwarf_register)
{
    return dwarf_register >= 0 && dwarf_register < COL_DWARF_REGS && application->scene.known >> dwarf_register & 1;
}

/* Evaluates the expression at a distance from the FDE: in the FDE, or else in its CIE. Instructions that make no sense
   together can leave a distance to anywhere. */
static bool evaluate(const struct application *application, int32_t distance, const uintptr_t *initial,
                     uintptr_t *result)
{
    const struct col_eh_fde *fde = application->fde;
    const uint8_t *at = (const uint8_t *)((uintptr_t)fde->start + (uintptr_t)(intptr_t)distance);
    bool is_in_fde = at >= fde->instructions && at < fde->end;
    bool is_in_cie = at >= fde->cie.instructions && at < fde->cie.end;
    struct col_cursor block = {at, is_in_fde ? fde->end : fde->cie.end, false, 0};
    return (is_in_fde || is_in_cie) && col_unwind_expression_evaluate(&application->scene, block, initial, result);
}

static enum col_unwind_cfi_answer find_cfa(struct application *application, const struct col_unwind_row *row)
{
    if (row->cfa_is_expression)
        return evaluate(application, row->cfa_offset, NULL, &application->cfa) ? COL_CFI_DONE
                                                                               : COL_CFI_REGISTER_NOT_KNOWN;
    if (!knows(application, row->cfa_register))
        return COL_CFI_REGISTER_NOT_KNOWN;
    application->cfa = application->scene.regs->dwarf[row->cfa_register] + (uintptr_t)(intptr_t)row->cfa_offset;
    return COL_CFI_DONE;
}

/* The caller's value of one register. */
static enum col_unwind_cfi_answer find_value(struct application *application, unsigned dwarf_register,
                                             struct col_unwind_register place, uintptr_t *value)
{
    struct col_stack_reader *reader = application->scene.reader;
    uintptr_t offset_from_cfa = application->cfa + (uintptr_t)(intptr_t)place.value, address;
    unsigned source = place.kind == COL_REGISTER_IN_REGISTER ? (unsigned)place.value : dwarf_register;
    switch (place.kind) {
    case COL_REGISTER_SAME:
    case COL_REGISTER_IN_REGISTER:
        if (dwarf_register == COL_DWARF_SP && place.kind == COL_REGISTER_SAME) {
            *value = application->cfa;
            return COL_CFI_DONE;
        }
        if (!knows(application, source))
            return COL_CFI_REGISTER_NOT_KNOWN;
        *value = application->scene.regs->dwarf[source];
        return COL_CFI_DONE;
    case COL_REGISTER_UNDEFINED:
        return COL_CFI_REGISTER_NOT_KNOWN;
    case COL_REGISTER_AT_OFFSET:
        return col_safe_read_stack(reader, offset_from_cfa, value) ? COL_CFI_DONE : COL_CFI_UNREADABLE;
    case COL_REGISTER_IS_OFFSET:
        *value = offset_from_cfa;
        return COL_CFI_DONE;
    case COL_REGISTER_AT_EXPRESSION:
        if (!evaluate(application, place.value, &application->cfa, &address))
            return COL_CFI_REGISTER_NOT_KNOWN;
        return col_safe_read_stack(reader, address, value) ? COL_CFI_DONE : COL_CFI_UNREADABLE;
    default: /* COL_REGISTER_IS_EXPRESSION */
        return evaluate(application, place.value, &application->cfa, value) ? COL_CFI_DONE : COL_CFI_REGISTER_NOT_KNOWN;
    }
}

/*
 * Whether the registers have their callers' values again although the row says where they are saved. A function that
 * realigned its stack has them at expressions of its frame pointer, and the compiler says nothing of an epilogue that
 * has popped even that: the place of the frame pointer would be where it points itself, outside of the frame.
 */
static bool is_restored(struct application *application, const struct col_unwind_row *row)
{
    const struct col_unwind_register *place = place_of(row, COL_DWARF_FP);
    const uintptr_t *regs = application->scene.regs->dwarf;
    uintptr_t address;
    return place->kind == COL_REGISTER_AT_EXPRESSION &&
           evaluate(application, place->value, &application->cfa, &address) && address == regs[COL_DWARF_FP] &&
           (address < regs[COL_DWARF_SP] || address >= application->cfa);
}

static void commit(struct col_unwind_cfi_frame *frame, const uintptr_t *values, uint64_t known)
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

enum col_unwind_cfi_answer col_unwind_cfi_apply(const struct col_eh_fde *fde, const struct col_unwind_row *row,
                                                struct col_stack_reader *reader, struct col_unwind_cfi_frame *frame,
                                                bool *sp_is_saved)
{
    struct application application = {.fde = fde, .scene = {frame->regs, frame->known, reader}};
    uintptr_t values[COL_ARCH_SAVED_COUNT];
    uint64_t known = 0;
    if (fde->cie.return_column != COL_ARCH_RETURN_COLUMN)
        return COL_CFI_NOT_SENSIBLE;
    if (place_of(row, COL_ARCH_RETURN_COLUMN)->kind == COL_REGISTER_UNDEFINED)
        return COL_CFI_OUTERMOST;
    enum col_unwind_cfi_answer answer = find_cfa(&application, row);
    if (answer != COL_CFI_DONE)
        return answer;
    bool has_restored = is_restored(&application, row);
    for (unsigned i = 0; i < COL_ARCH_SAVED_COUNT; i++) {
        unsigned reg = col_arch_saved[i];
        struct col_unwind_register place = row->saved[i];
        if (has_restored && place.kind == COL_REGISTER_AT_EXPRESSION)
            place.kind = COL_REGISTER_SAME;
        answer = find_value(&application, reg, place, &values[i]);
        if (answer == COL_CFI_DONE)
            known |= UINT64_C(1) << reg;
        else if (reg == COL_DWARF_SP || reg == COL_ARCH_RETURN_COLUMN ||
                 (reg == COL_DWARF_FP && row->saved[i].kind != COL_REGISTER_UNDEFINED))
            return answer; /* without these the walk cannot go on; any other may stay unknown */
    }
    *sp_is_saved = place_of(row, COL_DWARF_SP)->kind != COL_REGISTER_SAME;
    commit(frame, values, known);
    return COL_CFI_DONE;
}
