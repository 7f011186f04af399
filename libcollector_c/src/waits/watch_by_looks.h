/* watch_by_looks.h -- waits where the kernel gives no records: looks alone, and what its scheduler accounts to each thread */
#ifndef COL_WAITS_WATCH_BY_LOOKS_H
#define COL_WAITS_WATCH_BY_LOOKS_H

#include <sys/types.h>

#include "waits/watching.h"

/*
 * Watches a process and its descendants until the pipe `end` is closed. How long a thread waited between two looks is exact: what the clock has and the
 * scheduler has not. Where it waited is taken to be where the later one found it. A thread that keeps still is looked at more and more rarely. Ordinary code.
 */
void col_watch_by_looks(struct col_watching *watching, pid_t pid, int end);

#endif
