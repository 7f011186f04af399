/* watcher.h -- where the threads of a program wait, found out from outside */
#ifndef COL_WAITS_WATCHER_H
#define COL_WAITS_WATCHER_H

#include <stdint.h>
#include <sys/types.h>

/*
 * In the launcher, beside the program: the kernel's records give the length of each wait, looks from outside where it was. Nothing of it is in
 * the program: no thread, descriptor, mapping or signal. It is written as a log of its own, waits.log of the experiment.
 */
struct col_wait_watch {
    const char *experiment; /* directory */
    pid_t pid;              /* about to run the program by exec: its descendants are watched with it */
    uint64_t looks_ns;      /* between looks, at best */
    int ready;              /* a pipe: closed as soon as the program may begin */
    int end;                /* a pipe: watching ends when its last writer closes it */
};

/* Watches until the end, in this thread, as ordinary code. Once a process. 0, or -errno if nothing can be watched or written. */
int col_wait_watcher_run(const struct col_wait_watch *watch);

#endif
