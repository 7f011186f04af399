/* go_program.h -- is the program that runs written in Go? */
#ifndef COL_TARGET_GO_PROGRAM_H
#define COL_TARGET_GO_PROGRAM_H

#include <stdbool.h>

/* By the note that Go's linker leaves. Such a program makes its system calls by instructions of its own, past the C library's functions. */
bool col_go_program_is_running(void);

#endif
