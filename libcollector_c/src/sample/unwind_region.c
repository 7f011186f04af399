/* unwind_region.c -- a walk goes on over the stack of the thread that opened the parallel region */
#include "sample/unwind_region.h"

#include "target/parallel_region.h"

enum {
    START_FRAMES = 2
}; /* the functions of a C library that start a thread: clone3 and start_thread, or what they are called there */

/* The last frame stands for the region from now on. */
static void go_to_opener(struct col_unwind_region *region, const struct col_parallel_region *opened,
                         struct col_unwind_frames *output, struct col_stack_reader *reader, struct col_regs *regs)
{
    output->pcs[output->count - 1] = COL_FRAMES_REGION + opened->pc;
    regs->pc = opened->pc;
    regs->sp = opened->sp;
    regs->fp = opened->fp;
    region->has_joined = true;
    col_safe_read_enter(reader, regs->sp);
}

bool col_unwind_region_leave(struct col_unwind_region *region, struct col_unwind_frames *output,
                             struct col_stack_reader *reader, struct col_regs *regs)
{
    struct col_parallel_region opened;
    if (reader->memory != NULL || regs->pc != (uintptr_t)col_parallel_region_return ||
        !col_parallel_region_of_frame(regs->fp, &opened))
        return false;
    go_to_opener(region, &opened, output, reader, regs);
    return true;
}

bool col_unwind_region_join_last(struct col_unwind_region *region, struct col_unwind_frames *output,
                                 struct col_stack_reader *reader, struct col_regs *regs)
{
    struct col_parallel_region opened;
    if (reader->memory != NULL || region->has_joined || output->turns != 0 || output->count <= START_FRAMES ||
        !col_parallel_region_hold_last(&opened))
        return false;
    region->is_holding = true;
    output->count -= START_FRAMES - 1; /* they do not belong to the region */
    if (output->sps != NULL)
        output->sps[output->count - 1] = regs->sp;
    go_to_opener(region, &opened, output, reader, regs);
    return true;
}

void col_unwind_region_finish(struct col_unwind_region *region)
{
    if (region->is_holding)
        col_parallel_region_release();
    *region = (struct col_unwind_region){false, false};
}
