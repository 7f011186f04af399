/* wait_log.h -- waits.log: where the threads of the watched processes waited, as samples */
#ifndef COL_WAITS_WAIT_LOG_H
#define COL_WAITS_WAIT_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "waits/wait_threads.h"

/*
 * A log like any other, of this process, with a source for each process that is watched and each cause of waiting. A sample stands for what came up since the thread's last
 * samples. Ordinary code, one thread at a time; what the log has no room for is lost, as everywhere.
 */

/* How waits are found out: `way` names it, `detail` says why it is no better one, or is NULL. 0 or -errno. */
int col_wait_log_open(const char *experiment, const char *way, const char *detail, uint64_t looks_ns);

/* The sums of a thread, up to a moment. */
void col_wait_log_add(struct col_waiting_thread *thread, uint64_t time_ns, const struct col_wait_sum *sums,
                      size_t count);

/* How often something was so, by a word for programs and one for people; nothing if never. */
void col_wait_log_tell(const char *subject, const char *sentence, uint64_t count);

void col_wait_log_close(void);

#endif
