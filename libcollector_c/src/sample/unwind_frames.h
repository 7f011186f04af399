/* unwind_frames.h -- the frames that a walk has found: all of them, or of a deep stack its leaf's part and its root's */
#ifndef COL_SAMPLE_UNWIND_FRAMES_H
#define COL_SAMPLE_UNWIND_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/safe_read.h"
#include "experiment/format.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. */

enum { COL_FRAMES_LEFT_OUT = 1 }; /* the address that stands for frames of which there were too many (docs/format.md) */

/* From here on an address stands for a parallel region: the return address of the call that opened it lies so much lower. */
#define COL_FRAMES_REGION (UINT64_C(1) << 63)

/*
 * Frames go from index 0 up. When there is no room for more, the upper half becomes a ring of those found last. A turn begins when the ring
 * has been filled: the first is that half itself.
 */
struct col_unwind_frames {
    uintptr_t *pcs, *sps; /* sps may be NULL: what is left out of a deep stack begins elsewhere each time then */
    size_t count, max;
    struct col_deep_stack *deep; /* NULL: a stack ends when there is no room */
    unsigned turns, most_turns;
    bool has_jumped;                /* over frames that are taken to be those of an earlier walk */
    struct col_stack_mark marks[2]; /* where the last turns began */
};

/* Frames found so far, those included that were overwritten. */
static inline size_t col_unwind_frames_total(const struct col_unwind_frames *frames)
{
    return frames->count + frames->turns * (frames->max - frames->max / 2);
}

/* Begins a walk, or an attempt at one. */
void col_unwind_frames_begin(struct col_unwind_frames *frames);

/* Makes room for more when there is none. May change `regs` to those of a frame nearer to the root. False: the walk ends here. */
bool col_unwind_frames_turn(struct col_unwind_frames *frames, struct col_stack_reader *reader, struct col_regs *regs);

/* Forgets all frames but the first `count`, which is at most half of what there is room for. */
static inline void col_unwind_frames_cut(struct col_unwind_frames *frames, size_t count)
{
    frames->turns = 0;
    frames->count = count;
}

/*
 * Puts the frames in order when the walk is over, and remembers what helps the thread's next one. `is_rooted`: it came to the start of
 * the thread; `is_cut`: it ran out of room. Answers whether it counts as cut.
 */
bool col_unwind_frames_finish(struct col_unwind_frames *frames, bool is_rooted, bool is_cut);

#endif
