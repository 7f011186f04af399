/* unwind_frames.c -- the frames that a walk has found
 *
 * Of a deep stack the frames that are left out begin where its stack pointers pass the roundest address: as long as that is far enough from
 * the leaf they begin at the same frame at every tick, and a stack differs from the one before it in what was called and returned alone.
 *
 * To walk 50,000 frames takes a quarter of a millisecond. That is done now and then; in between the walk jumps from the
 * leaf's part to a frame that was near the root the last time, if its return address still lies where it was.
 */
#include "sample/unwind_frames.h"

enum {
    MOST_GROWTH_BYTES = 1 << 26, /* of a stack between two ticks; what is farther off is another stack */
    MOST_FRAMES = 1 << 18,       /* of a walk without a jump */
    FRAMES_A_WALK = 1024,        /* so many are made up for by each later walk of a deep stack */
    TURNS_ALWAYS = 3,            /* what a walk may take that there was no time for */
};

static size_t ring_of(const struct col_unwind_frames *frames)
{
    return frames->max - frames->max / 2;
}

void col_unwind_frames_begin(struct col_unwind_frames *frames)
{
    frames->count = 0;
    frames->turns = frames->most_turns = 0;
    frames->has_jumped = false;
    frames->marks[0] = frames->marks[1] = (struct col_stack_mark){0, 0, 0};
}

/* True when the frame is still there: on this stack, above what was walked so far, and to be returned to. */
static bool is_still_there(const struct col_stack_mark *mark, struct col_stack_reader *reader, uintptr_t sp)
{
    const struct col_stack_bounds *own = reader->own;
    uintptr_t word;
    bool is_above = mark->sp > sp && mark->sp >= own->low && mark->sp < own->high;
    bool is_same_stack = sp >= own->low || own->low - sp < MOST_GROWTH_BYTES;
    return COL_ARCH_RETURN_OFFSET != 0 && mark->pc != 0 && is_above && is_same_stack &&
           col_safe_read_stack(reader, mark->sp + (uintptr_t)COL_ARCH_RETURN_OFFSET, &word) && word == mark->pc;
}

/* The first turn: how far this walk may go, and from where. */
static void set_out(struct col_unwind_frames *frames, struct col_stack_reader *reader, struct col_regs *regs)
{
    struct col_deep_stack *deep = frames->deep;
    bool may_go_far = deep->debt < FRAMES_A_WALK;
    deep->debt -= may_go_far ? deep->debt : FRAMES_A_WALK;
    frames->most_turns = may_go_far ? (unsigned)(MOST_FRAMES / ring_of(frames)) : TURNS_ALWAYS;
    if (may_go_far || !is_still_there(&deep->mark, reader, regs->sp))
        return;
    regs->pc = deep->mark.pc;
    regs->sp = deep->mark.sp;
    regs->fp = deep->mark.fp;
    frames->has_jumped = true;
    col_safe_read_enter(reader, regs->sp);
}

bool col_unwind_frames_turn(struct col_unwind_frames *frames, struct col_stack_reader *reader, struct col_regs *regs)
{
    if (frames->deep == NULL)
        return false;
    if (frames->turns == 0)
        set_out(frames, reader, regs);
    if (frames->turns == frames->most_turns)
        return false;
    frames->marks[0] = frames->marks[1];
    frames->marks[1] = (struct col_stack_mark){regs->pc, regs->sp, regs->fp};
    frames->turns++;
    frames->count = frames->max - ring_of(frames);
    return true;
}

static void reverse(uintptr_t *words, size_t count)
{
    for (size_t i = 0, j = count; i + 1 < j; i++) {
        uintptr_t word = words[i];
        words[i] = words[--j];
        words[j] = word;
    }
}

/* Turns the ring so that its oldest frame, at `oldest`, comes first. */
static void turn_ring(uintptr_t *words, size_t count, size_t oldest)
{
    reverse(words, oldest);
    reverse(words + oldest, count - oldest);
    reverse(words, count);
}

static void remember(struct col_unwind_frames *frames, bool is_rooted)
{
    struct col_deep_stack *deep = frames->deep;
    if (!is_rooted)
        deep->mark.pc = 0;
    else if (!frames->has_jumped) /* from the turn before the last it is a whole ring, and not two, to the root */
        deep->mark = frames->marks[0];
    if (frames->most_turns > TURNS_ALWAYS)
        deep->debt = (uint32_t)(frames->turns * ring_of(frames));
}

/* Frames of the leaf's part that are kept, at least half of it: the first that is not makes room for what stands for all of those. */
static size_t kept_of(const struct col_unwind_frames *frames)
{
    size_t most = frames->max - ring_of(frames) - 1, kept = most;
    uintptr_t highest = 0;
    for (size_t i = most / 2 + 1; frames->sps != NULL && i <= most; i++) {
        uintptr_t passed =
            frames->sps[i - 1] ^ frames->sps[i]; /* its highest bit is that of the roundest address between */
        if (passed >= highest) {
            highest = passed;
            kept = i;
        }
    }
    return kept;
}

static void move_down(uintptr_t *to, const uintptr_t *from, size_t count)
{
    for (size_t i = 0; i < count && to != from; i++)
        to[i] = from[i];
}

bool col_unwind_frames_finish(struct col_unwind_frames *frames, bool is_rooted, bool is_cut)
{
    if (frames->turns == 0)
        return is_cut;
    size_t ring = ring_of(frames), begin = frames->max - ring, oldest = frames->count - begin, kept = kept_of(frames);
    remember(frames, is_rooted);
    is_cut |= frames->has_jumped && !is_rooted;
    frames->count = is_cut ? kept : kept + 1 + ring;
    if (is_cut)
        return true;
    turn_ring(frames->pcs + begin, ring, oldest);
    move_down(frames->pcs + kept + 1, frames->pcs + begin, ring);
    if (frames->sps != NULL) {
        turn_ring(frames->sps + begin, ring, oldest);
        move_down(frames->sps + kept + 1, frames->sps + begin, ring);
    }
    frames->pcs[kept] = COL_FRAMES_LEFT_OUT;
    return false;
}
