/* interpose_memory.c -- the program locks its memory, within a limit that ours would exceed, and gives up some on which our handlers would run */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>

#include "base/real.h"
#include "control/alternate_stack.h"
#include "control/locked_memory.h"
#include "control/session.h"
#include "target/own_status.h"

COL_EXPORT int mlockall(int flags)
{
    int result = COL_REAL(mlockall)(flags), error = errno;
    if (!col_session_is_open() || col_own_status_is_filtered()) /* seccomp need not let us unlock anything */
        return result;
    if (result == 0) {
        col_locked_memory_give_back(flags);
        return 0;
    }
    if (error == ENOMEM && (flags & MCL_CURRENT) != 0)
        error = -col_locked_memory_lock(flags);
    errno = error;
    return error == 0 ? 0 : -1;
}

COL_EXPORT int munmap(void *memory, size_t bytes)
{
    col_alternate_stack_lose(memory, bytes);
    return COL_REAL(munmap)(memory, bytes);
}

COL_EXPORT int mprotect(void *memory, size_t bytes, int protection)
{
    if ((protection & PROT_WRITE) == 0)
        col_alternate_stack_lose(memory, bytes);
    return COL_REAL(mprotect)(memory, bytes, protection);
}

COL_EXPORT void *mremap(void *memory, size_t bytes, size_t new_bytes, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    void *place = (flags & MREMAP_FIXED) != 0 ? va_arg(list, void *) : NULL;
    va_end(list);
    col_alternate_stack_lose(memory, bytes);
    return COL_REAL(mremap)(memory, bytes, new_bytes, flags, place);
}
