/* exact_waits.h -- every wait of a thread with its length and stack, taken by the thread itself as it leaves the kernel */
#ifndef COL_SAMPLE_EXACT_WAITS_H
#define COL_SAMPLE_EXACT_WAITS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/wait_cause.h"
#include "target/thread.h"

/*
 * A perf event of the thread's context switches signals it when it has been away from its processor: not at the switch but on its way back to user mode, when the call
 * that waited has its result, so that no call is interrupted. What has passed since its last such signal and was not CPU time, it waited for, or was ready. That needs
 * the right to have events in the kernel. A thread that switches too often for a signal each time has gaps between bursts of them: what passed in a gap is told, and
 * put where the waits of the next burst are.
 */

enum {
    COL_EXACT_RUNNABLE,
    COL_EXACT_WAITS, /* that are over */
    COL_EXACT_VARIANCE,
    COL_EXACT_BLOCKED,
    COL_EXACT_VALUES = COL_EXACT_BLOCKED + COL_WAIT_CAUSES
};

struct col_exact_wait {
    uint64_t values[COL_EXACT_VALUES]; /* in the order in which the source declares them */
    uint64_t unseen_us;                /* if this is anything it is all there is, and of no stack */
};

/* In a process that begins: no thread has an event until that is allowed. */
void col_exact_waits_start(void);

/* From now on threads have them; the calling one at once. From ordinary code. */
void col_exact_waits_allow(struct col_thread *thread, uint32_t pid);

/* From anywhere, signal handlers included. */

/* The program makes an io_uring with these flags: without IORING_SETUP_DEFER_TASKRUN a signal as ours cuts short what waits for several completions, and waits are
   recorded no longer. */
void col_exact_waits_meet_ring(uint32_t flags);

/* From anywhere, signal handlers included, between enter and leave of the calling thread. */

/* The thread begins, if it is allowed. */
void col_exact_waits_begin(struct col_thread *thread);

/* What it has waited since it last was asked; false: nothing. At a signal of its event. */
bool col_exact_waits_take(struct col_thread *thread, const ucontext_t *context, uint64_t time_ns,
                          struct col_exact_wait *wait);

/* Writes that, with the thread's stack. 0, or as col_open_frame_add. */
int col_exact_waits_add(struct col_thread *thread, uint64_t time_ns, const struct col_exact_wait *wait,
                        const struct col_thread_stack *stack);

/* The thread ends, or becomes another program: no signal from here on. Also of a thread that is not the calling one. */
void col_exact_waits_end(struct col_thread *thread);

/* The log is about to be closed: tells what was not seen. */
void col_exact_waits_close(void);

#endif
