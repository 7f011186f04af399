/* exported_symbols.h -- what a loaded object exports, read from its memory */
#ifndef COL_TARGET_EXPORTED_SYMBOLS_H
#define COL_TARGET_EXPORTED_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/remote_memory.h"

/*
 * As dlsym(3), but from anywhere, signal handlers included, and whatever the object's scope is: `bias` is the object's, `dynamic` where its dynamic section
 * lies. 0: it exports no such symbol, or has no GNU hash table. Symbols of thread-local variables are not found. `memory` is that of another process, or NULL.
 */
uintptr_t col_exported_symbols_find(struct col_remote_memory *memory, uintptr_t bias, uintptr_t dynamic,
                                    const char *name);

/* The same, and how many bytes the symbol is of. */
uintptr_t col_exported_symbols_measure(struct col_remote_memory *memory, uintptr_t bias, uintptr_t dynamic,
                                       const char *name, size_t *bytes);

#endif
