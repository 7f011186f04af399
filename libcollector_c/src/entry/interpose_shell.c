/* interpose_shell.c -- shells that the C library starts by itself inherit what the program believes of its signals */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/real.h"
#include "control/dispositions.h"

static void cover(void *unused)
{
    (void)unused;
    col_dispositions_cover();
}

/* The thread may be cancelled while it waits for the shell. */
COL_EXPORT int system(const char *command)
{
    int status;
    col_dispositions_uncover(false);
    pthread_cleanup_push(cover, NULL);
    status = COL_REAL(system)(command);
    pthread_cleanup_pop(1);
    return status;
}

COL_EXPORT FILE *popen(const char *command, const char *type)
{
    col_dispositions_uncover(false);
    FILE *stream = COL_REAL(popen)(command, type);
    col_dispositions_cover();
    return stream;
}

COL_SECOND_NAME(_IO_popen, popen);
