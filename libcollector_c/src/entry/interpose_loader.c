/* interpose_loader.c -- objects come and go */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/deep_binding.h"
#include "entry/interpose.h"
#include "entry/interpose_openmp.h"

#include <dlfcn.h>

#include "base/real.h"
#include "control/session.h"
#include "sample/sampler.h"
#include "sample/unwind.h"
#include "target/code_finder.h"
#include "target/modules.h"

/* What it needs may be found on behalf of its caller alone, by the caller's DT_RPATH: NULL then, and that is tried. */
static __attribute__((noinline)) void *open_deep(const char *file, int mode)
{
    void *handle = COL_REAL(dlopen)(file, mode);
    col_deep_binding_undo(handle);
    return handle;
}

/*
 * dlopen looks for files on behalf of its caller, whom it knows by its return address. So these two end in a jump, not in a call: the
 * optimiser makes one of a call in last place, and a test holds it to that.
 */

COL_EXPORT void *dlopen(const char *file, int mode)
{
    col_session_adopt();
    if (col_session_is_open())
        col_modules_expect();
    void *handle = col_session_is_open() && col_deep_binding_can_open(file, mode) ? open_deep(file, mode) : NULL;
    if (handle != NULL)
        return handle;
    return COL_REAL(dlopen)(file, mode);
}

COL_EXPORT void *dlmopen(Lmid_t space, const char *file, int mode)
{
    col_session_adopt();
    if (col_session_is_open())
        col_modules_expect();
    return COL_REAL(dlmopen)(space, file, mode);
}

/* No stack may be walked through an object while it goes. */
COL_EXPORT int dlclose(void *handle)
{
    if (!col_session_is_open())
        return COL_REAL(dlclose)(handle);
    col_sampler_unload_begin();
    int result = COL_REAL(dlclose)(handle);
    col_unwind_forget_modules();
    col_entry_forget_openmp();
    col_code_finder_refresh();
    col_sampler_unload_end();
    col_modules_rescan();
    return result;
}
