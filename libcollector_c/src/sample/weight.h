/* weight.h -- how much CPU time a tick stands for, and whose: the thread's own code or the kernel */
#ifndef COL_SAMPLE_WEIGHT_H
#define COL_SAMPLE_WEIGHT_H

#include <stdint.h>
#include <ucontext.h>

#include "target/thread.h"

/* What the clock that ticked can know. */
enum col_tick {
    COL_TICK_NONE,  /* a self-test is under way: nothing to do */
    COL_TICK_USER,  /* a perf event that fires only while the thread runs its own code: what it missed was system time */
    COL_TICK_SLOW,  /* the slow CPU timer beside such an event: finds out where system time went */
    COL_TICK_TIMER  /* a CPU timer alone: stands for all CPU time since the last one */
};

struct col_weight {
    uint64_t user_ns, system_ns;
};

/* All of this is signal-safe and for a thread that was entered. */

void col_weight_start(uint64_t period_ns);

/* The CPU time since the thread's last tick, as far as this one may stand for it; both 0: no sample. Over a thread's life the weights add up to its CPU time. */
struct col_weight col_weight_take(struct col_thread *thread, enum col_tick kind, const ucontext_t *context);

/* At the end, `cpu_ns` on the thread's clock: system time that found no system call, or passed since the last tick. It passed near where the thread was last seen. */
struct col_weight col_weight_take_rest(struct col_thread *thread, uint64_t cpu_ns);

#endif
