/* interpose_shell.c -- shells that the C library starts by itself inherit what the program believes of its signals */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "base/real.h"
#include "control/child_environment.h"
#include "control/child_program.h"
#include "control/dispositions.h"
#include "control/session.h"
#include "sample/plugin_call.h"

#define SHELL "/bin/sh" /* for the C library, whatever the user's is */

/*
 * The C library gives its shells the program's environment as it stands. Where the shell could not be recorded, as behind a chroot, or is not to be, it is to be without
 * us, or the dynamic linker complains: meanwhile `environ` names a list without our words.
 */
struct swapped {
    char **before, **ours, *copy; /* no `ours`: nothing was swapped */
    size_t bytes, list_bytes;
};

static struct swapped hide(const char *command)
{
    struct swapped none = {NULL, NULL, NULL, 0, 0};
    bool is_looked_at = command != NULL && (col_session_is_open() || col_plugin_call_is_within());
    const char *obstacle = is_looked_at ? col_child_program_obstacle(AT_FDCWD, SHELL) : NULL;
    if (col_session_is_terminated())
        obstacle = "";
    size_t text_bytes = 0,
           count = obstacle == NULL ? 0 : col_child_environment_measure(environ, COL_CHILD_UNRECORDED, &text_bytes);
    if (count == 0)
        return none;
    struct swapped swapped = {.before = environ, .list_bytes = count * sizeof(char *)};
    swapped.bytes = 2 * swapped.list_bytes + text_bytes;
    swapped.ours = col_os_map_memory(swapped.bytes);
    if (swapped.ours == NULL)
        return none;
    swapped.copy = (char *)(swapped.ours + count);
    col_child_environment_fill(environ, COL_CHILD_UNRECORDED, swapped.ours, swapped.copy + swapped.list_bytes);
    memcpy(swapped.copy, swapped.ours, swapped.list_bytes);
    environ = swapped.ours;
    col_session_note_unrecorded(0, SHELL, obstacle);
    return swapped;
}

/* What another thread has set meanwhile stays. */
static void show(struct swapped *swapped)
{
    if (swapped->ours == NULL || environ != swapped->ours ||
        memcmp(swapped->ours, swapped->copy, swapped->list_bytes) != 0)
        return;
    environ = swapped->before;
    munmap(swapped->ours, swapped->bytes);
}

static void come_back(void *swapped)
{
    col_dispositions_cover();
    show(swapped);
}

/* The thread may be cancelled while it waits for the shell. */
COL_EXPORT int system(const char *command)
{
    int status;
    struct swapped swapped = hide(command);
    col_dispositions_uncover(false);
    pthread_cleanup_push(come_back, &swapped);
    status = COL_REAL(system)(command);
    pthread_cleanup_pop(1);
    return status;
}

COL_EXPORT FILE *popen(const char *command, const char *type)
{
    struct swapped swapped = hide(command);
    col_dispositions_uncover(false);
    FILE *stream = COL_REAL(popen)(command, type);
    int error = errno;
    come_back(&swapped);
    errno = error;
    return stream;
}

COL_SECOND_NAME(_IO_popen, popen);
