/* unwind_region.h -- a walk goes on over the stack of the thread that opened the parallel region */
#ifndef COL_SAMPLE_UNWIND_REGION_H
#define COL_SAMPLE_UNWIND_REGION_H

#include <stdbool.h>

#include "base/arch.h"
#include "base/safe_read.h"
#include "sample/unwind_frames.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. */

/* Of one walk; all false at first. */
struct col_unwind_region {
    bool has_joined, is_holding;
};

/* True when the walk, whose last frame it has put out, stands where a region's function was called; then `regs` become the opener's. */
bool col_unwind_region_leave(struct col_unwind_region *region, struct col_unwind_frames *output,
                             struct col_stack_reader *reader, struct col_regs *regs);

/*
 * The same for one that came to the start of its thread: a worker that waits for others, or for the region's end. That end then waits for this walk, until finish. The latter is
 * for any walk.
 */
bool col_unwind_region_join_last(struct col_unwind_region *region, struct col_unwind_frames *output,
                                 struct col_stack_reader *reader, struct col_regs *regs);
void col_unwind_region_finish(struct col_unwind_region *region);

#endif
