/* preload.c -- the first and the last thing that happens: the library's constructor and destructor */
#include "control/session.h"
#include "control/signals.h"
#include "experiment/format.h"

#include <pthread.h>

/*
 * Runs before main, and before the constructors of what the program was linked with. Preloaded without
 * COLLECTOR_EXPERIMENT in the environment the library reads that one variable and does nothing else, ever.
 */
__attribute__((constructor)) static void begin(int argc, char **argv)
{
    const struct col_options *options = col_session_prepare();
    if (options == NULL)
        return;
    col_signals_install(options->sample_signal, options->pause_signal);
    col_session_open(argc, argv);
    if (col_session_is_open())
        pthread_atfork(col_session_fork_prepare, col_session_fork_parent, col_session_fork_child);
}

__attribute__((destructor)) static void finish(void)
{
    col_session_close(COL_CLOSE_EXIT);
}
