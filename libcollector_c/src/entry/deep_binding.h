/* deep_binding.h -- libraries that are loaded with RTLD_DEEPBIND call the C library past what stands in front of it */
#ifndef COL_ENTRY_DEEP_BINDING_H
#define COL_ENTRY_DEEP_BINDING_H

#include <stdbool.h>

/* Can dlopen(3) be called in its caller's place? It looks for a plain name, and for `$ORIGIN`, on behalf of whoever calls it. */
bool col_deep_binding_can_open(const char *file, int mode);

/*
 * What was loaded with `handle` calls ours as all others do. Without this a library that sets handlers of its own for all signals, as chdb's does, is
 * given our ticks. What its constructors do is done before. Ordinary code.
 */
void col_deep_binding_undo(void *handle);

#endif
