/* parallel_region.h -- who opened the parallel region that a thread works in */
#ifndef COL_TARGET_PARALLEL_REGION_H
#define COL_TARGET_PARALLEL_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An OpenMP runtime calls the function of a parallel region in threads of its own. The opener waits for them all: while they run, its stack from the call on is as it
 * was, and a walk over a worker's stack may go on there. So nothing is walked or copied when a region is opened.
 *
 * Lies on the opener's stack while the runtime's function is called. `pc`, `sp` and `fp` are the registers that call would return to.
 */
struct col_parallel_region {
    uint64_t id; /* 0: there was no room to note it */
    uintptr_t pc, sp, fp;
    const void *opener;  /* stands for the thread */
    uint32_t jump_count; /* how often it had jumped */
};

/* Around the call of the runtime, in the opener. end waits for walks of other threads that are reading its stack just now. */
void col_parallel_region_begin(struct col_parallel_region *region);
void col_parallel_region_end(struct col_parallel_region *region);

/* The calling thread is about to run the region's function; remembered until it runs another one's. */
void col_parallel_region_enter(const struct col_parallel_region *region);

/* The calling thread leaves functions without returning from them: regions that it has open may be among them. */
void col_parallel_region_jump(void);

/* In a fork child: the threads that have opened regions are gone. */
void col_parallel_region_forget(void);

/*
 * Calls `function` with so many words, of which six (on aarch64 eight) must be there in any case, and answers what it does. Its frame tells the unwinder of the region:
 * a walk that comes to the address `col_parallel_region_return` finds it by the frame pointer.
 */
uintptr_t col_parallel_region_call(void *function, const uintptr_t *words, size_t count,
                                   const struct col_parallel_region *region, uint64_t id);
extern const char col_parallel_region_return[] __attribute__((visibility("hidden")));

/* ---- CALLABLE FROM ANYWHERE, signal handlers included ---- */

/* A copy of the region that such a frame tells of; false if it is none that is open. */
bool col_parallel_region_of_frame(uintptr_t fp, struct col_parallel_region *region);

/*
 * A copy of the region whose function the calling thread has run last, if another thread opened it and has it open still: its end waits until release. False, and nothing to
 * release, if there is none.
 */
bool col_parallel_region_hold_last(struct col_parallel_region *region);
void col_parallel_region_release(void);

#endif
