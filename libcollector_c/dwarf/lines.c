/* lines.c -- the machine of line programs */
#include "lines.h"

#include "../analysis/array.h"

#include <errno.h>
#include <stdlib.h>

enum {
    DW_LNS_extended = 0,
    DW_LNS_copy = 1,
    DW_LNS_advance_pc = 2,
    DW_LNS_advance_line = 3,
    DW_LNS_set_file = 4,
    DW_LNS_const_add_pc = 8,
    DW_LNS_fixed_advance_pc = 9,
    DW_LNE_end_sequence = 1,
    DW_LNE_set_address = 2,
};

struct col_lines {
    uint64_t *addresses, *ends;
    uint32_t *files, *lines;
    size_t count, address_capacity, file_capacity, line_capacity, end_count, end_capacity;
};

struct machine {
    const struct col_line_program *program;
    struct col_dwarf_cursor cursor;
    struct col_lines *out;
    size_t first; /* row of the sequence */
    uint64_t address, file;
    int64_t line;
};

struct col_lines *col_lines_open(void)
{
    return calloc(1, sizeof(struct col_lines));
}

void col_lines_close(struct col_lines *lines)
{
    free(lines->addresses);
    free(lines->files);
    free(lines->lines);
    free(lines->ends);
    free(lines);
}

static void begin_sequence(struct machine *machine)
{
    machine->first = machine->out->count;
    machine->address = 0;
    machine->file = 1;
    machine->line = 1;
}

static bool add_row(struct col_lines *out, uint64_t address, uint32_t file, uint32_t line)
{
    size_t count = out->count + 1;
    if (!COL_ARRAY_RESERVE(out->addresses, out->address_capacity, count) ||
        !COL_ARRAY_RESERVE(out->files, out->file_capacity, count) ||
        !COL_ARRAY_RESERVE(out->lines, out->line_capacity, count))
        return false;
    out->addresses[out->count] = address;
    out->files[out->count] = file;
    out->lines[out->count] = line;
    out->count = count;
    return true;
}

/* A row, unless it says what the last one says. */
static bool note(struct machine *machine)
{
    const struct col_lines *out = machine->out;
    uint32_t line = machine->line >= 0 && machine->line <= INT32_MAX ? (uint32_t)machine->line : 0;
    uint32_t file = (uint32_t)machine->file;
    if (out->count > machine->first && out->files[out->count - 1] == file && out->lines[out->count - 1] == line)
        return true;
    return add_row(machine->out, machine->address, file, line);
}

static bool end_sequence(struct machine *machine)
{
    struct col_lines *out = machine->out;
    if (out->count > machine->first) {
        uint64_t last = out->addresses[out->count - 1];
        if (!add_row(out, machine->address > last ? machine->address : last, COL_LINES_NO_FILE, 0) ||
            !COL_ARRAY_RESERVE(out->ends, out->end_capacity, out->end_count + 1))
            return false;
        out->ends[out->end_count++] = out->count;
    }
    begin_sequence(machine);
    return true;
}

static bool run_extended(struct machine *machine)
{
    struct col_dwarf_cursor *cursor = &machine->cursor;
    uint64_t length = col_dwarf_uleb(cursor);
    struct col_dwarf_cursor inside = *cursor;
    col_dwarf_skip(cursor, length);
    if (length == 0 || cursor->is_bad)
        return true;
    uint64_t kind = col_dwarf_fixed(&inside, 1);
    if (kind == DW_LNE_set_address)
        machine->address = col_dwarf_fixed(&inside, length > 8 ? 8 : (unsigned)length - 1);
    return kind != DW_LNE_end_sequence || end_sequence(machine);
}

static void advance(struct machine *machine, unsigned opcode)
{
    unsigned step = opcode - machine->program->opcode_base;
    machine->address += (uint64_t)(step / machine->program->line_range) * machine->program->minimum_bytes;
}

static bool run_standard(struct machine *machine, unsigned opcode)
{
    struct col_dwarf_cursor *cursor = &machine->cursor;
    switch (opcode) {
    case DW_LNS_copy:
        return note(machine);
    case DW_LNS_advance_pc:
        machine->address += col_dwarf_uleb(cursor) * machine->program->minimum_bytes;
        return true;
    case DW_LNS_advance_line:
        machine->line = (int64_t)((uint64_t)machine->line + (uint64_t)col_dwarf_sleb(cursor));
        return true;
    case DW_LNS_set_file:
        machine->file = col_dwarf_uleb(cursor);
        return true;
    case DW_LNS_const_add_pc:
        advance(machine, 255);
        return true;
    case DW_LNS_fixed_advance_pc:
        machine->address += col_dwarf_fixed(cursor, 2);
        return true;
    default:
        for (unsigned i = machine->program->operand_counts[opcode]; i > 0; i--)
            col_dwarf_uleb(cursor);
        return true;
    }
}

static bool run_special(struct machine *machine, unsigned opcode)
{
    const struct col_line_program *program = machine->program;
    advance(machine, opcode);
    int step = program->line_base + (int)((opcode - program->opcode_base) % program->line_range);
    machine->line = (int64_t)((uint64_t)machine->line + (uint64_t)(int64_t)step);
    return note(machine);
}

int col_lines_run(struct col_lines *lines, const struct col_line_program *program, struct col_line_rows *rows)
{
    struct machine machine = {.program = program, .out = lines};
    struct col_dwarf_bytes bytes = {program->bytes, program->size};
    lines->count = lines->end_count = 0;
    machine.cursor = col_dwarf_at(bytes, 0);
    begin_sequence(&machine);
    while (machine.cursor.at < machine.cursor.end) {
        unsigned opcode = (unsigned)col_dwarf_fixed(&machine.cursor, 1);
        bool is_done = opcode >= program->opcode_base ? run_special(&machine, opcode)
                       : opcode == DW_LNS_extended    ? run_extended(&machine)
                                                      : run_standard(&machine, opcode);
        if (!is_done)
            return -ENOMEM;
        if (machine.cursor.is_bad)
            return -EBADMSG;
    }
    *rows = (struct col_line_rows){.addresses = lines->addresses,
                                   .files = lines->files,
                                   .lines = lines->lines,
                                   .row_count = machine.first,
                                   .ends = lines->ends,
                                   .sequence_count = lines->end_count};
    return 0;
}
