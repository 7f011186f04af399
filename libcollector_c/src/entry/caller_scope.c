/* caller_scope.c -- the function that a caller would have reached without us */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/caller_scope.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

#include "base/real.h"

const struct link_map *col_caller_scope_object(const void *code)
{
    Dl_info about;
    struct link_map *object = NULL;
    return dladdr1(code, &about, (void **)&object, RTLD_DL_LINKMAP) != 0 ? object : NULL;
}

void *col_caller_scope_find_in(const char *library, const char *name)
{
    void *handle = COL_REAL(dlopen)(library, RTLD_LAZY | RTLD_NOLOAD), *found = NULL;
    if (handle == NULL)
        return NULL;
    found = dlsym(handle, name);
    COL_REAL(dlclose)(handle);
    return found;
}

void *col_caller_scope_find(const char *name, const void *caller, const void *ours)
{
    void *found = dlsym(RTLD_NEXT, name);
    const struct link_map *object = found == NULL ? col_caller_scope_object(caller) : NULL;
    if (object != NULL)
        found = col_caller_scope_find_in(object->l_name[0] != '\0' ? object->l_name : NULL, name);
    return found != ours ? found : NULL;
}
