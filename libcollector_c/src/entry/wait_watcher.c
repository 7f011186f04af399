/* wait_watcher.c -- what the launcher calls to have a program's waiting watched, and what it reads in the program */
#include "entry/interpose.h"

#include <stdint.h>

#include "sample/recording.h"
#include "waits/watcher.h"

/* Read from another process, by this name (sample/remote_process.c). */
extern const struct col_recording_turns *const collector_recording_turns;
COL_EXPORT const struct col_recording_turns *const collector_recording_turns = &col_recording_own_turns;

/* Not part of the API: collector/capture/native.py is the only caller. 0 or -errno. */
COL_EXPORT int collector_watch_waits(const char *experiment, int pid, uint64_t looks_ns, int ready, int end);

COL_EXPORT int collector_watch_waits(const char *experiment, int pid, uint64_t looks_ns, int ready, int end)
{
    return col_wait_watcher_run(&(struct col_wait_watch){
        .experiment = experiment, .pid = pid, .looks_ns = looks_ns, .ready = ready, .end = end});
}
