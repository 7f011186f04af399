/* dynamic_code.h -- code that the program made or mapped itself, as it tells us */
#ifndef COL_TARGET_DYNAMIC_CODE_H
#define COL_TARGET_DYNAMIC_CODE_H

#include <stdint.h>

/*
 * Each call becomes a record of the log; nothing is remembered in the process. What cannot be used is counted (api_arguments.h). Strings, tables
 * and code are read only where they can be read.
 */

/* From anywhere; what the program gives is read while the call lasts. */

struct col_dynamic_function {
    const char *name;           /* at most 65,535 bytes; NULL or empty: a wrong argument */
    const char *alias, *source; /* the same; may be NULL */
    uintptr_t start;
    int bytes;         /* the first 256 KiB of the code are kept */
    int line_count;    /* the first 65,536 lines are kept */
    const void *lines; /* pairs of int: offset, line. Offsets rise. May be NULL */
};
void col_dynamic_code_load_function(const struct col_dynamic_function *function);
void col_dynamic_code_unload_function(uintptr_t start);
void col_dynamic_code_unload_module(uintptr_t start);

/* From ordinary code. */

/* The program has mapped the object file `path` at `start`: copies the file into the experiment and says where its code lies. */
void col_dynamic_code_load_module(const char *path, uintptr_t start);

/* In a fork child, whose log knows nothing yet. */
void col_dynamic_code_forget(void);

#endif
