/* preload.c -- the first and the last thing that happens: the library's constructor and destructor */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include "base/own_environment.h"
#include "base/real.h"
#include "control/session.h"
#include "control/signals.h"
#include "experiment/format.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_stack_end
    __attribute__((weak)); /* where the kernel has put the number of arguments, and behind it the arguments */

static bool has_begun;

/* pthread_atfork, for a library by its handle: its handlers are dropped when that is taken down, but destructors that come later may fork. Of no library they stay. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library);

/* Registered before the program's own handlers, and so called after them. */
static void finish_quickly(void)
{
    col_session_close(COL_CLOSE_EXIT);
}

/* Preloaded without COLLECTOR_EXPERIMENT in the environment the library reads that one variable and does nothing else, ever. */
static void begin_once(int argc, char **argv)
{
    if (__atomic_exchange_n(&has_begun, true,
                            __ATOMIC_RELAXED)) /* written at once: to read the page first would cost a fault more */
        return;
    col_own_environment_begin();
    const struct col_options *options = col_session_prepare();
    col_own_environment_end();
    if (options == NULL)
        return;
    col_signals_install(options->sample_signal, options->pause_signal);
    col_session_open(argc, argv);
    if (!col_session_is_open())
        return;
    __register_atfork(col_session_fork_prepare, col_session_fork_parent, col_session_fork_child, NULL);
    at_quick_exit(finish_quickly);
}

/* Runs before main, but behind the constructors of libraries that the program was linked with. */
__attribute__((constructor)) static void begin(int argc, char **argv)
{
    begin_once(argc, argv);
}

/* Some of them make threads, which no clock would see that is started later. Nothing is done before the C library knows the environment. */
void col_entry_begin_early(void)
{
    const long *start = &__libc_stack_end != NULL ? __libc_stack_end : NULL;
    if (!has_begun && environ != NULL && start != NULL)
        begin_once((int)start[0], (char **)(uintptr_t)(start + 1));
}

static void close_log(void *unused)
{
    (void)unused;
    col_session_close(COL_CLOSE_EXIT);
}

/* Destructors of other libraries come behind ours, which may work or wait for their threads: exit calls what is registered meanwhile behind all of them. */
__attribute__((destructor)) static void finish(void)
{
    if (col_session_is_open() && COL_REAL(__cxa_atexit)(close_log, NULL, NULL) != 0)
        close_log(NULL);
}
