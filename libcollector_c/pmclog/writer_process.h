/* writer_process.h -- whether the process that writes a log still runs */
#ifndef COL_PMCLOG_WRITER_PROCESS_H
#define COL_PMCLOG_WRITER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* INITIALIZE's pid and start_ticks. True if no process runs that has both; PMCLOG_UNKNOWN is anybody's start. */
bool col_writer_process_is_gone(pid_t pid, uint64_t start_ticks);

#endif
