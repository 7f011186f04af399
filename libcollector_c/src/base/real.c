/* real.c -- the C library's own functions, behind the ones of the same name that we put in front */
#include "base/real.h"

#include <dlfcn.h>
#include <stddef.h>

static const char *const names[COL_REAL_COUNT] = {
#define X(name) #name,
    COL_REAL_FUNCTIONS(X)
#undef X
};

static struct {
    void *function[COL_REAL_COUNT];
} self;

void *col_real_find(enum col_real_index index)
{
    void *function = __atomic_load_n(&self.function[index], __ATOMIC_RELAXED);
    if (function == NULL) {
        function = dlsym(RTLD_NEXT, names[index]);
        __atomic_store_n(&self.function[index], function, __ATOMIC_RELAXED);
    }
    return function;
}

void col_real_resolve(void)
{
    for (unsigned index = 0; index < COL_REAL_COUNT; index++)
        (void)col_real_find((enum col_real_index)index);
}
