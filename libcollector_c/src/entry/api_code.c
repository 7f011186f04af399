/* api_code.c -- the functions of libcollector.h that tell of generated code */
#define COLLECTOR_LINKED /* the prototypes, not the macros */
#include "entry/interpose.h"

#include "control/session.h"
#include "libcollector.h"
#include "target/dynamic_code.h"

COL_EXPORT void collector_func_load(const char *name, const char *alias, const char *sourcename, const void *vaddr,
                                    int size, int lntsize, const Lineno *lntable)
{
    if (col_session_is_open())
        col_dynamic_code_load_function(
            &(struct col_dynamic_function){name, alias, sourcename, (uintptr_t)vaddr, size, lntsize, lntable});
}

COL_EXPORT void collector_func_unload(const void *vaddr)
{
    if (col_session_is_open())
        col_dynamic_code_unload_function((uintptr_t)vaddr);
}

COL_EXPORT void collector_module_load(const char *modulename, const void *vaddr)
{
    if (col_session_is_open())
        col_dynamic_code_load_module(modulename, (uintptr_t)vaddr);
}

COL_EXPORT void collector_module_unload(const void *vaddr)
{
    if (col_session_is_open())
        col_dynamic_code_unload_module((uintptr_t)vaddr);
}
