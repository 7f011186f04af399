/* one_of.h -- one of several things, each of which serves one thread at a time */
#ifndef COL_BASE_ONE_OF_H
#define COL_BASE_ONE_OF_H

#include <stdbool.h>

/* FROM ANYWHERE, SIGNAL HANDLERS INCLUDED. Nobody waits: -1 where all of them are taken. */
static inline int col_one_of_take(bool *taken, int count)
{
    for (int i = 0; i < count; i++)
        if (!__atomic_exchange_n(&taken[i], true, __ATOMIC_ACQUIRE))
            return i;
    return -1;
}

static inline void col_one_of_return(bool *taken, int i)
{
    __atomic_store_n(&taken[i], false, __ATOMIC_RELEASE);
}

#endif
