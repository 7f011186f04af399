/* switch_rate.h -- how often the threads of this process are switched, and whether the clock's event can be afforded beside that */
#ifndef COL_SAMPLE_SWITCH_RATE_H
#define COL_SAMPLE_SWITCH_RATE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The kernel stops and starts the timer of a perf event whenever its thread leaves or gets a processor, which takes 4 us and more where a hypervisor has to be asked: two
 * processes that hand each other a pipe's buffer would take seven times as long. While threads are switched that often there is no event, and the slow timer, which the
 * kernel looks at in its own tick only, is the clock.
 */

/* In a process that begins. */
void col_switch_rate_start(void);

/* A thread of a process whose clock has an event was switched `switches` times in `cpu_ns` of its CPU time: closes the event, and opens it again. Signal-safe. */
void col_switch_rate_note(uint64_t switches, uint64_t cpu_ns);

#define COL_OFTEN_NS 50000u /* of CPU time: more than one switch in so much is often */

#endif
