/* interpose_frames.c -- unwind tables that the program makes itself, as just-in-time compilers do */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/caller_scope.h"
#include "entry/interpose.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/safe_read.h"
#include "control/session.h"
#include "sample/sampler.h"
#include "sample/unwind.h"
#include "target/code_finder.h"
#include "target/jit_debug.h"

/* Of libgcc_s, which is always where one can find it: a jump shows no caller. */
static void *find_real(const char *name, const void *caller, const void *ours)
{
    void *found = col_caller_scope_find(name, caller, ours);
    return found != NULL ? found : col_caller_scope_find_in("libgcc_s.so.1", name);
}

/*
 * Only what compilers call is hooked, not the functions below that which libgcc_s calls itself (__register_frame_info): by a jump, so that one would not know for whom.
 * Without a real one there is nobody who would unwind by the table.
 */
typedef void (*frame_function)(const void *);

void __register_frame(const void *frames);
void __deregister_frame(const void *frames);

/* A section as libgcc wants it begins with a CIE, whose second word is 0. Other unwinders are given entries one by one, which end in nothing that we could see. */
static bool is_section(const void *frames)
{
    uint32_t words[2];
    return col_safe_read_bytes((uintptr_t)frames, words, sizeof words) && words[0] != 0 && words[1] == 0;
}

static void learn(const void *frames, const void *caller)
{
    if (!col_session_is_open())
        return;
    if (is_section(frames))
        col_code_finder_add_frames(frames);
    const struct link_map *object = col_caller_scope_object(caller);
    if (object != NULL)
        col_jit_debug_meet(object->l_name[0] != '\0' ? object->l_name : "/proc/self/exe", object->l_addr);
}

/* No stack may be walked by a table while it goes. */
static void forget(const void *frames)
{
    col_sampler_unload_begin();
    col_code_finder_remove_frames(frames);
    col_unwind_forget_modules();
    col_sampler_unload_end();
}

COL_EXPORT void __register_frame(const void *frames)
{
    const void *caller = __builtin_return_address(0);
    frame_function real = (frame_function)find_real("__register_frame", caller, (const void *)__register_frame);
    if (real == NULL)
        return;
    real(frames);
    learn(frames, caller);
}

COL_EXPORT void __deregister_frame(const void *frames)
{
    frame_function real =
        (frame_function)find_real("__deregister_frame", __builtin_return_address(0), (const void *)__deregister_frame);
    if (col_session_is_open())
        forget(frames);
    if (real != NULL)
        real(frames);
}
