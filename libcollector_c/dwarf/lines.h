/* lines.h -- runs the line program of a unit: a byte code that grows a table of address, file and line (DWARF 5, section 6.2) */
#ifndef COL_DWARF_LINES_H
#define COL_DWARF_LINES_H

#include "bytes.h"

#define COL_LINES_NO_FILE UINT32_MAX

/* The program, and what the header before it says. operand_counts is by opcode, opcode_base of them. */
struct col_line_program {
    const uint8_t *bytes;
    size_t size;
    const uint8_t *operand_counts;
    uint8_t minimum_bytes;
    int8_t line_base;
    uint8_t line_range; /* not 0 */
    uint8_t opcode_base;
};

/* Rows where file or line change. Each sequence ends with a row without a file (NO_FILE), where its code ends; ends[i] is the number
   of rows up to the end of sequence i. Lines are 0 where the compiler names none. Buffers stay until the next call. */
struct col_line_rows {
    const uint64_t *addresses;
    const uint32_t *files;
    const uint32_t *lines;
    size_t row_count; /* of whole sequences */
    const uint64_t *ends;
    size_t sequence_count;
};

struct col_lines;

struct col_lines *col_lines_open(void); /* NULL without memory */
void col_lines_close(struct col_lines *lines);

/* 0, -ENOMEM, or -EBADMSG if the program ends amid an instruction. */
int col_lines_run(struct col_lines *lines, const struct col_line_program *program, struct col_line_rows *rows);

#endif
