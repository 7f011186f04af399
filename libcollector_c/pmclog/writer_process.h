/* writer_process.h -- whether the process that writes a log still runs */
#ifndef COL_PMCLOG_WRITER_PROCESS_H
#define COL_PMCLOG_WRITER_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* True if nobody can be writing the log behind fd: no process of that number runs, or one that began after the log was last written to. */
bool col_writer_process_is_gone(pid_t pid, int fd);

#endif
