/* clock.h -- what time it is, asked of the kernel itself: programs that fake the time fake libc's clock_gettime */
#ifndef COL_BASE_CLOCK_H
#define COL_BASE_CLOCK_H

#include <stdint.h>

/* From anywhere, signal handlers included. All in ns. */
uint64_t col_clock_now(void);               /* CLOCK_MONOTONIC of the launcher */
uint64_t col_clock_wall(void);              /* CLOCK_REALTIME */
uint64_t col_clock_thread_cpu(void);        /* CPU time of the calling thread, exact */
uint64_t col_clock_cpu_of(uint32_t thread); /* CPU time of one of this process's threads; 0 when it is gone */

/* By how much CLOCK_REALTIME and CLOCK_BOOTTIME are ahead of CLOCK_MONOTONIC in this process's time namespace. */
void col_clock_offsets(int64_t *wall_ns, int64_t *boottime_ns);

/* By how much this process's CLOCK_MONOTONIC is ahead of the launcher's, as in a time namespace; 0 until it is set, and fork children inherit it. */
void col_clock_set_ahead(int64_t ahead_ns);

/* User and system CPU time as the kernel accounts them (getrusage). */
void col_clock_thread_times(uint64_t *user_ns, uint64_t *system_ns);
/* The system time, and how often the thread was taken from its processor or left it. */
void col_clock_thread_switches(uint64_t *system_ns, uint64_t *switches);
void col_clock_process_times(uint64_t *user_ns, uint64_t *system_ns);

#endif
