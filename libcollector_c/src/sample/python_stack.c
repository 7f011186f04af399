/* python_stack.c -- the Python functions of a thread, put into its native stack where they belong */
#include "sample/python_stack.h"

#include "sample/unwind_frames.h"
#include "target/python_code.h"

enum {
    ENTRY_OWNER = 3, /* from 3.12 on: the least owner of a frame that marks where an evaluator began */
    LAST_OWNER = 4,  /* the greatest that there is */
    LOOP_MARK = 1,   /* no address: the frame before it is run by the next evaluator there is (up to 3.10) */
    MOST_CHUNKS = 64,
    MOST_FRAMES = 32768, /* of a run that is followed to its end */
    STATE_BYTES = 1024,  /* of a thread's state, at most */
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
    struct col_proved_pages proved;
    uintptr_t state;
    bool holds_gil;
    bool is_full;        /* there were more frames than there is room for */
    bool has_descents;   /* the native stack leads to one that lies below */
    uintptr_t low, high; /* of the chunk that frames are in now */
    uintptr_t last_object;
    struct col_python_code last_code;
    uintptr_t
        *out; /* innermost first: frames, as the log has them, and behind each run of them where its evaluator is */
    size_t count, max;
};

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

/* The thread's own frames lie in its chunks, up to the top of the newest. Only the thread itself gives those back. A walk meets them in their order. */
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
        return address >= bounds->low || col_safe_read_prove(&walk->proved, address, bytes);
    return bounds->high == 0 && is_within(address, bytes, native->sps[0], native->sps[native->count - 1] + 1) &&
           col_safe_read_prove(&walk->proved, address, bytes);
}

static bool is_in_state(const struct walk *walk, uintptr_t address)
{
    return address - walk->state < STATE_BYTES;
}

/* Generators have their frames elsewhere: those are asked for page by page. */
static bool is_readable(struct walk *walk, uintptr_t frame)
{
    size_t bytes = walk->layout->frame.bytes;
    return frame % sizeof frame == 0 &&
           (is_within(frame, bytes, walk->low, walk->high) || is_on_stack(walk, frame, bytes) ||
            find_chunk(walk, frame) || col_safe_read_prove(&walk->proved, frame, bytes));
}

/* ---- one frame ---- */

static bool add(struct walk *walk, uintptr_t word)
{
    if (walk->count == walk->max) {
        walk->is_full = true;
        return false;
    }
    walk->out[walk->count++] = word;
    return true;
}

/* The offset of the instruction that a frame executes; 0 before its first one. */
static uint32_t offset_in(const struct walk *walk, uintptr_t frame)
{
    uintptr_t where = col_foreign_word(frame + walk->layout->frame.where);
    int64_t offset = walk->layout->where == COL_PYTHON_BYTES   ? (int32_t)where
                     : walk->layout->where == COL_PYTHON_UNITS ? (int64_t)(int32_t)where * 2
                                                               : (int64_t)(where - walk->last_code.instructions);
    return offset > 0 && offset < walk->last_code.bytes ? (uint32_t)offset : 0;
}

/* Adds the function of a frame. False: it has none, or there is no room. */
static bool add_function(struct walk *walk, uintptr_t frame)
{
    uintptr_t object = col_foreign_word(frame + walk->layout->frame.code) & ~(uintptr_t)7;
    if (object != walk->last_object) {
        if (object == 0 || !col_python_code_find(walk->runtime, object, &walk->last_code))
            return false;
        walk->last_object = object;
    }
    bool is_innermost = walk->count == 0; /* only there the GIL is told of: callers waited for what is called */
    return add(
        walk, col_python_code_address(walk->last_code.start, offset_in(walk, frame), !is_innermost || walk->holds_gil));
}

static uintptr_t previous_of(const struct walk *walk, uintptr_t frame)
{
    return col_foreign_word(frame + walk->layout->frame.previous) & ~(uintptr_t)7;
}

static uint8_t owner_of(const struct walk *walk, uintptr_t frame)
{
    return (uint8_t)col_foreign_word(frame + walk->layout->frame.owner);
}

/* ---- where evaluators are, of 3.9 and 3.10 ---- */

static bool is_readable_cframe(struct walk *walk, uintptr_t cframe)
{
    return cframe % sizeof cframe == 0 && (is_on_stack(walk, cframe, 24) || is_in_state(walk, cframe));
}

static uintptr_t next_mark(struct walk *walk, uintptr_t mark)
{
    if (mark == LOOP_MARK)
        return LOOP_MARK;
    uintptr_t next = col_foreign_word(mark + walk->layout->cframe.previous);
    return is_readable_cframe(walk, next) && !is_in_state(walk, next) ? next : LOOP_MARK;
}

/* That of the innermost frame. An evaluator that begins or ends may have only one of the two: they are counted from the other end. */
static uintptr_t first_mark(struct walk *walk, uintptr_t frame)
{
    uintptr_t mark = LOOP_MARK;
    size_t frame_count = 0, mark_count = 0;
    if (walk->layout->state.cframe == 0)
        return mark;
    uintptr_t first = col_foreign_word(walk->state + walk->layout->state.cframe);
    if (!is_readable_cframe(walk, first) || is_in_state(walk, first))
        return mark;
    for (mark = first; mark != LOOP_MARK && mark_count < walk->max; mark = next_mark(walk, mark))
        mark_count++;
    for (; frame != 0 && frame_count < walk->max && is_readable(walk, frame); frame = previous_of(walk, frame))
        frame_count++;
    if (frame_count > mark_count || mark_count == walk->max)
        return LOOP_MARK;
    for (mark = first; mark_count > frame_count; mark_count--)
        mark = next_mark(walk, mark);
    return mark;
}

/* ---- the chains of frames; each answers whether it came to the end ---- */

/* 3.9 and 3.10: each frame has an evaluator of its own. In 3.10 that has a structure on the C stack, which lie there in the same order. */
static bool walk_frame_objects(struct walk *walk)
{
    uintptr_t frame = col_foreign_word(walk->state + walk->layout->state.frame), mark = first_mark(walk, frame);
    for (; frame != 0; frame = previous_of(walk, frame), mark = next_mark(walk, mark))
        if (!is_readable(walk, frame) || !add_function(walk, frame) || !add(walk, mark))
            return false;
    return true;
}

/* From 3.13 on: runs of frames, each of which ends in an entry frame on the stack of its evaluator. */
static bool walk_entries(struct walk *walk)
{
    uintptr_t frame = col_foreign_word(walk->state + walk->layout->state.frame) & ~(uintptr_t)7;
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

/* True if the frames that one evaluator runs lead to `outer`, the next one's innermost: only then they are what they look like. */
static bool leads_to(struct walk *walk, uintptr_t frame, uintptr_t outer)
{
    uint8_t highest = has_entry_frames(walk) ? LAST_OWNER : 1;
    for (size_t count = 0; frame != 0; frame = previous_of(walk, frame)) {
        if (count++ == MOST_FRAMES || !is_readable(walk, frame) || owner_of(walk, frame) > highest)
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
    uintptr_t cframe = col_foreign_word(walk->state + layout->state.cframe), outer;
    for (bool is_innermost = true; is_readable_cframe(walk, cframe); is_innermost = false, cframe = outer) {
        uintptr_t frame = col_foreign_word(cframe + layout->cframe.frame);
        size_t before = walk->count;
        outer = col_foreign_word(cframe + layout->cframe.previous);
        if (is_in_state(walk, cframe))
            return frame == 0 || walk_run(walk, frame, 0);
        if (!is_readable_cframe(walk, outer) || outer == cframe)
            return false;
        if (walk_run(walk, frame, col_foreign_word(outer + layout->cframe.frame)) && add(walk, cframe))
            continue;
        if (!is_innermost || walk->count == walk->max)
            return false;
        walk->count = before;
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

/* ---- both kinds in one stack ---- */

static bool is_python(uintptr_t word)
{
    return word >= COL_PYTHON_FIRST_ADDRESS;
}

/* The native frame, from `at` on, of the evaluator that `mark` tells; native->count if there is none. */
static size_t evaluator_of(const struct walk *walk, uintptr_t mark, size_t at)
{
    const struct col_native_stack *native = walk->native;
    size_t i = at;
    if (mark == LOOP_MARK) {
        while (i < native->count &&
               !is_within(native->pcs[i] - (i != 0), 1, walk->runtime->loop_low, walk->runtime->loop_high))
            i++;
        return i;
    }
    while (i < native->count && !(native->sps[i] <= mark && i + 1 < native->count && mark < native->sps[i + 1])) {
        if (native->sps[i] > mark && !walk->has_descents)
            return native->count; /* among the frames that were left out */
        i++;
    }
    return i;
}

static bool is_interpreter(const struct walk *walk, size_t i)
{
    return is_within(walk->native->pcs[i] - (i != 0), 1, walk->runtime->low, walk->runtime->high);
}

/* The frame by which the interpreter is entered, behind what starts a program or thread; native->count if there is none. */
static size_t interpreter_of(const struct walk *walk)
{
    size_t count = walk->native->count, outermost = count;
    for (size_t i = count; i-- > 0;) {
        if (!is_interpreter(walk, i))
            continue;
        if (i + 1 < count && !is_interpreter(walk, i + 1))
            return i;
        outermost = outermost == count ? i : outermost;
    }
    return outermost;
}

/* A stack of both kinds of frames, leaf first. Of one that has no room the middle is left out. */
struct output {
    uintptr_t *pcs;
    size_t count, max, total; /* frames so far, those left out included; frames to come in all */
};

static void put(struct output *output, uintptr_t address)
{
    size_t root_part = output->max / 2, at = output->count++;
    if (output->total <= output->max)
        output->pcs[at] = address;
    else if (at < output->max - root_part)
        output->pcs[at] = at + 1 < output->max - root_part ? address : COL_FRAMES_LEFT_OUT;
    else if (at >= output->total - root_part)
        output->pcs[at - (output->total - output->max)] = address;
}

static void put_native(struct output *output, const struct col_native_stack *native, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        put(output, native->pcs[i]);
}

static size_t python_count(const struct walk *walk)
{
    size_t count = 0;
    for (size_t i = 0; i < walk->count; i++)
        count += is_python(walk->out[i]);
    return count;
}

/*
 * The runs of Python frames, each behind its evaluator. Without it they wait for that of the next run, or for the root. Where all are placed the native
 * stack need not lead on to the start of the thread: a program of Python begins with them, and a greenlet with its first.
 */
static size_t merge(const struct walk *walk, struct output *output, bool is_rooted_by_python)
{
    const struct col_native_stack *native = walk->native;
    size_t at = 0, waiting = 0;
    for (size_t i = 0; i < walk->count; i++) {
        size_t evaluator = is_python(walk->out[i]) ? native->count : evaluator_of(walk, walk->out[i], at);
        if (evaluator == native->count)
            continue;
        put_native(output, native, at, evaluator + 1);
        for (; waiting < i; waiting++)
            if (is_python(walk->out[waiting]))
                put(output, walk->out[waiting]);
        at = evaluator + 1;
    }
    if (!walk->is_full && !is_rooted_by_python)
        put_native(output, native, at, native->count);
    for (; waiting < walk->count; waiting++)
        if (is_python(walk->out[waiting]))
            put(output, walk->out[waiting]);
    if (walk->is_full) {
        put(output, COL_FRAMES_LEFT_OUT);
        put_native(output, native, at, native->count);
    }
    return output->count < output->max ? output->count : output->max;
}

/* The native stack alone, with a stand-in where the interpreter is entered, whose frames' time is its then. */
static size_t stand_in(const struct walk *walk, struct output *output, bool is_read)
{
    const struct col_native_stack *native = walk->native;
    size_t at = interpreter_of(walk), before = at < native->count ? at + 1 : native->count;
    bool is_wanted = !is_read || at < native->count;
    uintptr_t address =
        is_wanted ? col_python_code_stand_in(is_read ? COL_PYTHON_INTERPRETER : COL_PYTHON_UNREADABLE) : 0;
    output->total = native->count + (address != 0);
    put_native(output, native, 0, before);
    if (address != 0)
        put(output, address);
    put_native(output, native, before, native->count);
    return output->count < output->max ? output->count : output->max;
}

/* True if every run of Python frames has an evaluator among the native frames. */
static bool are_placed(const struct walk *walk)
{
    size_t at = 0;
    bool is_waiting = false;
    for (size_t i = 0; i < walk->count; i++) {
        bool is_mark = !is_python(walk->out[i]);
        if (is_mark && is_waiting && (at = evaluator_of(walk, walk->out[i], at)) == walk->native->count)
            return false;
        at += is_mark && is_waiting;
        is_waiting = !is_mark;
    }
    return !is_waiting;
}

size_t col_python_stack_merge(const struct col_python_runtime *runtime, const struct col_native_stack *native,
                              uintptr_t *python, uintptr_t *pcs, size_t max, bool *is_rooted)
{
    struct walk walk = {.runtime = runtime, .layout = &runtime->layout, .native = native, .out = python, .max = max};
    struct output output = {.pcs = pcs, .max = max};
    for (size_t i = 1; i < native->count && !walk.has_descents; i++)
        walk.has_descents = native->sps[i] < native->sps[i - 1];
    bool is_whole = walk_frames(&walk);
    size_t count = python_count(&walk);
    if (count == 0)
        return stand_in(&walk, &output, is_whole);
    bool is_rooted_by_python = !*is_rooted && is_whole && runtime->is_program && are_placed(&walk);
    *is_rooted |= is_rooted_by_python;
    output.total = native->count + count + walk.is_full;
    return merge(&walk, &output, is_rooted_by_python);
}
