/* interpose_descriptor.c -- the program may close everything: ours are not there for it */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "base/real.h"
#include "target/descriptors.h"

COL_EXPORT int close(int fd)
{
    if (col_descriptors_owns(fd)) {
        errno = EBADF; /* what it would be told without us */
        return -1;
    }
    return COL_REAL(close)(fd);
}

COL_SECOND_NAME(__close, close);

COL_EXPORT int dup2(int from, int to)
{
    if (col_descriptors_owns(to))
        col_descriptors_evade(to);
    return COL_REAL(dup2)(from, to);
}

COL_SECOND_NAME(__dup2, dup2);

COL_EXPORT int dup3(int from, int to, int flags)
{
    if (col_descriptors_owns(to))
        col_descriptors_evade(to);
    return COL_REAL(dup3)(from, to, flags);
}

/* Closes around ours, range by range. */
COL_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    int own;
    while (first <= last && first <= INT_MAX && (own = col_descriptors_next((int)first)) >= 0 &&
           (unsigned)own <= last) {
        if ((unsigned)own > first && COL_REAL(close_range)(first, (unsigned)own - 1, flags) != 0)
            return -1;
        if ((unsigned)own == last)
            return 0;
        first = (unsigned)own + 1;
    }
    return COL_REAL(close_range)(first, last, flags);
}

COL_EXPORT void closefrom(int low)
{
    int own;
    for (low = low < 0 ? 0 : low; (own = col_descriptors_next(low)) >= 0; low = own + 1)
        if (own > low)
            COL_REAL(close_range)((unsigned)low, (unsigned)own - 1, 0);
    COL_REAL(closefrom)(low);
}
