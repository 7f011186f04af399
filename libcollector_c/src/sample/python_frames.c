/* python_frames.c -- the Python frames of a thread, and where the evaluators are that run them */
#include "sample/python_frames.h"

#include "base/safe_read.h"
#include "target/python_code.h"

enum {
    ENTRY_OWNER = 3, /* from 3.12 on: the least owner of a frame that marks where an evaluator began */
    LAST_OWNER = 4,  /* the greatest that there is */
    MOST_CHUNKS = 64,
    MOST_SEARCHES = 4,  /* through all chunks: generators, of which a stack may have thousands, are in none */
    STATE_BYTES = 1024, /* of a thread's state, at most */
};

/* A chunk of the memory that CPython keeps for the frames of a thread. */
struct chunk {
    uintptr_t previous;
    uint64_t bytes, top;
    /* frames follow */
};

/* One walk over a thread's Python frames. */
struct walk {
    const struct col_python_runtime *runtime;
    const struct col_python_layout *layout;
    const struct col_native_stack *native;
    struct col_python_frames *frames;
    struct col_proved_pages proved;
    uintptr_t state;
    bool holds_gil;
    uintptr_t low, high; /* of the chunk that frames are in now */
    uintptr_t to_copy;   /* from the frame that was found readable last to its copy; 0 in our own process */
    uintptr_t last_object;
    struct col_python_code last_code;
    unsigned searches;
    size_t max;
};

static uintptr_t word_at(const struct walk *walk, uintptr_t address)
{
    return col_safe_read_known(walk->proved.memory, address);
}

static bool is_within(uintptr_t address, size_t bytes, uintptr_t low, uintptr_t high)
{
    return address >= low && address < high && bytes <= high - address;
}

/* ---- memory ---- */

/* The frame's place in a chunk, which ends at `high`. */
static bool take_chunk(struct walk *walk, uintptr_t frame, const struct chunk *chunk, uintptr_t high)
{
    uintptr_t low = (uintptr_t)(chunk + 1);
    if (!is_within(frame, walk->layout->frame.bytes, low, high))
        return false;
    walk->low = low;
    walk->high = high;
    return true;
}

/* The thread's own frames lie in its chunks, up to the top of the newest. Only the thread itself gives those back. A walk meets them in their order,
   so that they seldom have to be searched for. */
static bool find_chunk(struct walk *walk, uintptr_t frame)
{
    uintptr_t at = walk->layout->state.datastack_chunk;
    const struct chunk *chunk = walk->low != 0 ? (const struct chunk *)walk->low - 1 : NULL;
    if (at == 0)
        return false;
    if (chunk != NULL && chunk->previous != 0) {
        const struct chunk *next = (const struct chunk *)chunk->previous;
        if (take_chunk(walk, frame, next, (uintptr_t)next + next->bytes))
            return true;
    }
    if (walk->searches++ >= MOST_SEARCHES)
        return false;
    chunk = (const struct chunk *)col_foreign_word(walk->state + at);
    uintptr_t top = col_foreign_word(walk->state + at + sizeof top);
    for (unsigned i = 0; i < MOST_CHUNKS && chunk != NULL; i++, chunk = (const struct chunk *)chunk->previous) {
        uintptr_t end = (uintptr_t)chunk + chunk->bytes;
        if (take_chunk(walk, frame, chunk, i == 0 && top >= (uintptr_t)(chunk + 1) && top <= end ? top : end))
            return true;
    }
    return false;
}

/* Of the C stack that the native frames are on. Where it ends nobody knows in a child of fork. */
static bool is_on_stack(struct walk *walk, uintptr_t address, size_t bytes)
{
    const struct col_native_stack *native = walk->native;
    const struct col_stack_bounds *bounds = native->bounds;
    if (is_within(address, bytes, native->sps[0], bounds->high))
        return address >= bounds->low || col_safe_read_view(&walk->proved, address, bytes) != NULL;
    return bounds->high == 0 && is_within(address, bytes, native->sps[0], native->sps[native->count - 1] + 1) &&
           col_safe_read_view(&walk->proved, address, bytes) != NULL;
}

static bool is_in_state(const struct walk *walk, uintptr_t address)
{
    return address - walk->state < STATE_BYTES;
}

/* Generators have their frames elsewhere: those are asked for page by page, as are all of another process. */
static bool is_readable(struct walk *walk, uintptr_t frame)
{
    size_t bytes = walk->layout->frame.bytes;
    if (frame % sizeof frame != 0)
        return false;
    if (is_within(frame, bytes, walk->low, walk->high) ||
        (walk->proved.memory == NULL && (is_on_stack(walk, frame, bytes) || find_chunk(walk, frame))))
        return true;
    const uint8_t *view = col_safe_read_view(&walk->proved, frame, bytes);
    if (view == NULL)
        return false;
    walk->to_copy = (uintptr_t)view - frame;
    return true;
}

/* ---- one frame ---- */

static bool add(struct walk *walk, uintptr_t word)
{
    struct col_python_frames *frames = walk->frames;
    if (frames->count == walk->max) {
        frames->is_full = true;
        return false;
    }
    frames->words[frames->count++] = word;
    return true;
}

/* The offset of the instruction that a frame executes; 0 before its first one. */
static uint32_t offset_in(const struct walk *walk, uintptr_t frame)
{
    uintptr_t where = col_foreign_word(frame + walk->to_copy + walk->layout->frame.where);
    int64_t offset = walk->layout->where == COL_PYTHON_BYTES   ? (int32_t)where
                     : walk->layout->where == COL_PYTHON_UNITS ? (int64_t)(int32_t)where * 2
                                                               : (int64_t)(where - walk->last_code.instructions);
    return offset > 0 && offset < walk->last_code.bytes ? (uint32_t)offset : 0;
}

/* Adds the function of a frame. False: it has none, or there is no room. */
static bool add_function(struct walk *walk, uintptr_t frame)
{
    uintptr_t object = col_foreign_word(frame + walk->to_copy + walk->layout->frame.code) & ~(uintptr_t)7;
    if (object != walk->last_object) {
        if (object == 0 || !col_python_code_find(walk->runtime, object, &walk->last_code))
            return false;
        walk->last_object = object;
    }
    bool is_innermost = walk->frames->count == 0; /* only there the GIL is told of: callers waited for what is called */
    return add(
        walk, col_python_code_address(walk->last_code.start, offset_in(walk, frame), !is_innermost || walk->holds_gil));
}

static uintptr_t previous_of(const struct walk *walk, uintptr_t frame)
{
    return col_foreign_word(frame + walk->to_copy + walk->layout->frame.previous) & ~(uintptr_t)7;
}

/* A byte, of the word that it is in: what follows that may not be there. */
static uint8_t owner_of(const struct walk *walk, uintptr_t frame)
{
    size_t at = walk->layout->frame.owner, in_word = at % sizeof frame;
    return (uint8_t)(col_foreign_word(frame + walk->to_copy + at - in_word) >> 8 * in_word);
}

/* ---- where evaluators are, of 3.9 and 3.10 ---- */

static bool is_readable_cframe(struct walk *walk, uintptr_t cframe)
{
    return cframe % sizeof cframe == 0 && (is_on_stack(walk, cframe, 24) || is_in_state(walk, cframe));
}

static uintptr_t next_mark(struct walk *walk, uintptr_t mark)
{
    if (mark == COL_PYTHON_LOOP_MARK)
        return COL_PYTHON_LOOP_MARK;
    uintptr_t next = word_at(walk, mark + walk->layout->cframe.previous);
    return is_readable_cframe(walk, next) && !is_in_state(walk, next) ? next : COL_PYTHON_LOOP_MARK;
}

/* That of the innermost frame. An evaluator that begins or ends may have only one of the two: they are counted from the other end. */
static uintptr_t first_mark(struct walk *walk, uintptr_t frame)
{
    uintptr_t mark = COL_PYTHON_LOOP_MARK;
    size_t frame_count = 0, mark_count = 0;
    if (walk->layout->state.cframe == 0)
        return mark;
    uintptr_t first = word_at(walk, walk->state + walk->layout->state.cframe);
    if (!is_readable_cframe(walk, first) || is_in_state(walk, first))
        return mark;
    for (mark = first; mark != COL_PYTHON_LOOP_MARK && mark_count < walk->max; mark = next_mark(walk, mark))
        mark_count++;
    for (; frame != 0 && frame_count < walk->max && is_readable(walk, frame); frame = previous_of(walk, frame))
        frame_count++;
    if (frame_count > mark_count || mark_count == walk->max)
        return COL_PYTHON_LOOP_MARK;
    for (mark = first; mark_count > frame_count; mark_count--)
        mark = next_mark(walk, mark);
    return mark;
}

/* ---- the chains of frames; each answers whether it came to the end ---- */

/* 3.9 and 3.10: each frame has an evaluator of its own. In 3.10 that has a structure on the C stack, which lie there in the same order. */
static bool walk_frame_objects(struct walk *walk)
{
    uintptr_t frame = word_at(walk, walk->state + walk->layout->state.frame), mark = first_mark(walk, frame);
    for (; frame != 0; frame = previous_of(walk, frame), mark = next_mark(walk, mark))
        if (!is_readable(walk, frame) || !add_function(walk, frame) || !add(walk, mark))
            return false;
    return true;
}

/* From 3.13 on: runs of frames, each of which ends in an entry frame on the stack of its evaluator. */
static bool walk_entries(struct walk *walk)
{
    uintptr_t frame = word_at(walk, walk->state + walk->layout->state.frame) & ~(uintptr_t)7;
    for (; frame != 0; frame = previous_of(walk, frame)) {
        uint8_t owner = is_readable(walk, frame) ? owner_of(walk, frame) : LAST_OWNER + 1;
        if (owner > LAST_OWNER || !(owner >= ENTRY_OWNER ? add(walk, frame) : add_function(walk, frame)))
            return false;
    }
    return true;
}

/* 3.11 and 3.12: 3.12 has entry frames beside those of functions, in 3.11 the outermost of these is the entry. */
static bool has_entry_frames(const struct walk *walk)
{
    return walk->layout->version >= 0x030c;
}

static bool is_entry(const struct walk *walk, uintptr_t frame)
{
    uint8_t owner = owner_of(walk, frame);
    return has_entry_frames(walk) ? owner >= ENTRY_OWNER : owner != 0;
}

/* True if the frames that one evaluator runs lead to `outer`, the next one's innermost: only then they are what they look like. More of them than there
   is room for are not followed to their end: each tick would take longer than the time to the next. */
static bool leads_to(struct walk *walk, uintptr_t frame, uintptr_t outer)
{
    uint8_t highest = has_entry_frames(walk) ? LAST_OWNER : 1;
    for (size_t count = 0; frame != 0; frame = previous_of(walk, frame)) {
        if (count++ == walk->max)
            return true;
        if (!is_readable(walk, frame) || owner_of(walk, frame) > highest)
            return false;
        if (is_entry(walk, frame))
            return previous_of(walk, frame) == outer;
    }
    return outer == 0;
}

/* Adds their functions. */
static bool walk_run(struct walk *walk, uintptr_t frame, uintptr_t outer)
{
    if (!leads_to(walk, frame, outer))
        return false;
    for (bool is_last = false; frame != 0 && !is_last; frame = previous_of(walk, frame)) {
        if (walk->proved.memory != NULL &&
            !is_readable(walk, frame)) /* the copy that was made last is another frame's */
            return false;
        is_last = is_entry(walk, frame);
        if (!(is_last && has_entry_frames(walk)) && !add_function(walk, frame))
            return false;
    }
    return true;
}

/*
 * A structure on the stack of each evaluator leads to the frames that it runs, the outermost one lies in the thread's state. An evaluator that has just
 * begun has hung its own in before it has filled it: only there what is found need not fit, and is left out.
 */
static bool walk_cframes(struct walk *walk)
{
    const struct col_python_layout *layout = walk->layout;
    uintptr_t cframe = word_at(walk, walk->state + layout->state.cframe), outer;
    for (bool is_innermost = true; is_readable_cframe(walk, cframe); is_innermost = false, cframe = outer) {
        uintptr_t frame = word_at(walk, cframe + layout->cframe.frame);
        size_t before = walk->frames->count;
        outer = word_at(walk, cframe + layout->cframe.previous);
        if (is_in_state(walk, cframe))
            return frame == 0 || walk_run(walk, frame, 0);
        if (!is_readable_cframe(walk, outer) || outer == cframe)
            return false;
        if (walk_run(walk, frame, word_at(walk, outer + layout->cframe.frame)) && add(walk, cframe))
            continue;
        if (!is_innermost || walk->frames->count == walk->max)
            return false;
        walk->frames->count = before;
    }
    return false;
}

/* True if all of the thread's frames were found. */
static bool walk_frames(struct walk *walk)
{
    walk->state = col_python_runtime_thread_state(walk->runtime);
    if (walk->state == 0)
        return true;
    walk->holds_gil = col_python_runtime_holds_gil(walk->runtime, walk->state);
    return walk->layout->chain == COL_PYTHON_FRAME    ? walk_frame_objects(walk)
           : walk->layout->chain == COL_PYTHON_CFRAME ? walk_cframes(walk)
                                                      : walk_entries(walk);
}

void col_python_frames_read(const struct col_python_runtime *runtime, const struct col_native_stack *native,
                            uintptr_t *words, size_t max, struct col_python_frames *frames)
{
    *frames = (struct col_python_frames){.words = words};
    struct walk walk = {.runtime = runtime,
                        .layout = &runtime->layout,
                        .native = native,
                        .frames = frames,
                        .proved = {.memory = runtime->memory},
                        .max = max};
    frames->is_whole = walk_frames(&walk);
}
