/* cpu_timer.h -- POSIX timers that signal a thread as it uses CPU time */
#ifndef COL_SAMPLE_CPU_TIMER_H
#define COL_SAMPLE_CPU_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/* What the first ticks of all timers depend on; once a process. */
void col_cpu_timer_seed(uint32_t seed);

/*
 * COL_CLOCK_SIGNAL, with COL_CLOCK_EVENT_MAGIC, for the calling thread whenever it has used so much CPU time, as far as the kernel's tick tells. It first fires at a random
 * time within a period: threads that all do the same must not all be caught at the same point. A timer, or -errno. All are signal-safe.
 */
int col_cpu_timer_start(uint64_t period_ns, uint32_t tid);

/* From now on; a period of 0 is never. False if the timer is none. */
bool col_cpu_timer_set(int timer, uint64_t period_ns);

void col_cpu_timer_delete(int timer);

/* The kernel's tick. */
uint64_t col_cpu_timer_resolution_ns(void);

#endif
