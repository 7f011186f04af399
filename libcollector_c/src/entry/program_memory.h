/* program_memory.h -- what the program points at when it calls us, which may not be there */
#ifndef COL_ENTRY_PROGRAM_MEMORY_H
#define COL_ENTRY_PROGRAM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Copies what the kernel would read for a call that we stand in front of. False where it could not: then the call is made as it came, and the kernel says
 * what it says. At most a page. Signal-safe.
 */
bool col_entry_read_program(const void *from, void *to, size_t bytes);

#endif
