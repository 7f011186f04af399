/* wait_watcher.c -- what the launcher calls to have a program's waiting watched */
#include "entry/interpose.h"

#include <stdint.h>

#include "waits/watcher.h"

/* Not part of the API: collector/capture/native.py is the only caller. 0 or -errno. */
COL_EXPORT int collector_watch_waits(const char *experiment, int pid, uint64_t looks_ns, int ready, int end);

COL_EXPORT int collector_watch_waits(const char *experiment, int pid, uint64_t looks_ns, int ready, int end)
{
    return col_wait_watcher_run(&(struct col_wait_watch){
        .experiment = experiment, .pid = pid, .looks_ns = looks_ns, .ready = ready, .end = end});
}
