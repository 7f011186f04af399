/* interpose_memory.c -- the program locks its memory, within a limit that ours would exceed */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/real.h"
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
