/* frames.h -- where functions begin and end, as .eh_frame tells even of stripped code
 *
 * Source: Linux Standard Base 5.0, chapter 10.6 (.eh_frame, pointer encodings). collector/symbols/frame_ranges.py says the same in Python.
 */
#ifndef COL_ELF_FRAMES_H
#define COL_ELF_FRAMES_H

#include "code_range.h"

#include "../dwarf/bytes.h"

/* The pieces of code that the entries of a section at `address` describe. 0 or -ENOMEM. */
int col_frames_read(struct col_dwarf_bytes section, uint64_t address, struct col_code_ranges *ranges);

/* Keeps what begins in `code`, up to the end of that: entries of discarded code point elsewhere. */
void col_frames_clip(struct col_code_ranges *ranges, const struct col_code_range *code, size_t code_count);

#endif
