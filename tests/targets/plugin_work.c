/* plugin_work.c -- truth: WORK (a name given by -D) works for as many microseconds as it is asked to; to be loaded by plugin_games
 *
 * With -DFINDS it opens libbeside.so, which only this library's own $ORIGIN leads to.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>

#include "measured_work.h"

NOINLINE void WORK(long us);
NOINLINE void WORK(long us)
{
    work(us);
}

void run(long us);
void run(long us)
{
    WORK(us);
    __asm__ volatile("");
}

#ifdef FINDS
int finds_beside(void);
int finds_beside(void)
{
    return dlopen("libbeside.so", RTLD_NOW) != NULL;
}
#endif
