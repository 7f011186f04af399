/* jit_debug.h -- object files that just-in-time compilers made in memory, and told debuggers of */
#ifndef COL_TARGET_JIT_DEBUG_H
#define COL_TARGET_JIT_DEBUG_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A compiler that wants to be debugged keeps a list of such files at a symbol, __jit_debug_descriptor (GDB manual, "JIT Compilation Interface"). Each file on the
 * list is copied into the experiment, and its code told to the log.
 */

/* From ordinary code: the library in the file `path`, loaded at `bias`, seems to be a compiler. Looks, once for each, whether it has the symbol, hidden or not. */
void col_jit_debug_meet(const char *path, uintptr_t bias);

/* From anywhere, signal handlers included. */

/* Looks at the lists that are known; a tick may ask each time: unless a list has changed it costs one or two loads, and walks are rate-limited. */
void col_jit_debug_look(uint64_t time_ns, bool is_last);

/* In a fork child: a walk that another thread had begun will not be finished. */
void col_jit_debug_forget(void);

#endif
