/* python_stack.c -- the Python functions of a thread, put into its native stack where they belong */
#include "sample/python_stack.h"

#include "sample/unwind_frames.h"
#include "target/python_code.h"

/* Both kinds of frames of one stack. */
struct both {
    const struct col_python_runtime *runtime;
    const struct col_native_stack *native;
    struct col_python_frames python;
    bool has_descents; /* the native stack leads to one that lies below */
};

static bool is_between(uintptr_t address, uintptr_t low, uintptr_t high)
{
    return address >= low && address < high;
}

static bool is_python(uintptr_t word)
{
    return word >= COL_PYTHON_FIRST_ADDRESS;
}

/* The native frame, from `at` on, of the evaluator that `mark` tells; native->count if there is none. */
static size_t evaluator_of(const struct both *both, uintptr_t mark, size_t at)
{
    const struct col_native_stack *native = both->native;
    size_t i = at;
    if (mark == COL_PYTHON_LOOP_MARK) {
        while (i < native->count &&
               !is_between(native->pcs[i] - (i != 0), both->runtime->loop_low, both->runtime->loop_high))
            i++;
        return i;
    }
    while (i < native->count && !(native->sps[i] <= mark && i + 1 < native->count && mark < native->sps[i + 1])) {
        if (native->sps[i] > mark && !both->has_descents)
            return native->count; /* among the frames that were left out */
        i++;
    }
    return i;
}

static bool is_interpreter(const struct both *both, size_t i)
{
    return is_between(both->native->pcs[i] - (i != 0), both->runtime->low, both->runtime->high);
}

/*
 * The evaluator of the next run, whose mark is not known. Compilers may lay a part of it elsewhere, which its range does not tell: what C code is at the leaf
 * stays there in any case.
 */
static size_t next_evaluator(const struct both *both, size_t at)
{
    size_t evaluator = evaluator_of(both, COL_PYTHON_LOOP_MARK, at);
    if (evaluator < both->native->count)
        return evaluator;
    while (at < both->native->count && !is_interpreter(both, at))
        at++;
    return at;
}

/* The frame by which the interpreter is entered, behind what starts a program or thread; native->count if there is none. */
static size_t interpreter_of(const struct both *both)
{
    size_t count = both->native->count, outermost = count;
    for (size_t i = count; i-- > 0;) {
        if (!is_interpreter(both, i))
            continue;
        if (i + 1 < count && !is_interpreter(both, i + 1))
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

static size_t python_count(const struct both *both)
{
    size_t count = 0;
    for (size_t i = 0; i < both->python.count; i++)
        count += is_python(both->python.words[i]);
    return count;
}

/*
 * The runs of Python frames, each behind its evaluator. Without it they wait for that of the next run, or for the root. Where all are placed the native
 * stack need not lead on to the start of the thread: a program of Python begins with them, and a greenlet with its first.
 */
static size_t merge(const struct both *both, struct output *output, bool is_rooted_by_python)
{
    const struct col_native_stack *native = both->native;
    size_t at = 0, waiting = 0;
    for (size_t i = 0; i < both->python.count; i++) {
        size_t evaluator =
            is_python(both->python.words[i]) ? native->count : evaluator_of(both, both->python.words[i], at);
        if (evaluator == native->count)
            continue;
        put_native(output, native, at, evaluator + 1);
        for (; waiting < i; waiting++)
            if (is_python(both->python.words[waiting]))
                put(output, both->python.words[waiting]);
        at = evaluator + 1;
    }
    if (both->python.is_full && waiting < both->python.count) { /* their mark was not come to */
        size_t evaluator = next_evaluator(both, at);
        if (evaluator < native->count) {
            put_native(output, native, at, evaluator + 1);
            at = evaluator + 1;
        }
    }
    if (!both->python.is_full && !is_rooted_by_python)
        put_native(output, native, at, native->count);
    for (; waiting < both->python.count; waiting++)
        if (is_python(both->python.words[waiting]))
            put(output, both->python.words[waiting]);
    if (both->python.is_full) {
        put(output, COL_FRAMES_LEFT_OUT);
        put_native(output, native, at, native->count);
    }
    return output->count < output->max ? output->count : output->max;
}

/* The native stack alone, with a stand-in where the interpreter is entered, whose frames' time is its then. */
static size_t stand_in(const struct both *both, struct output *output, bool is_read)
{
    const struct col_native_stack *native = both->native;
    size_t at = interpreter_of(both), before = at < native->count ? at + 1 : native->count;
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
static bool are_placed(const struct both *both)
{
    size_t at = 0;
    bool is_waiting = false;
    for (size_t i = 0; i < both->python.count; i++) {
        bool is_mark = !is_python(both->python.words[i]);
        if (is_mark && is_waiting && (at = evaluator_of(both, both->python.words[i], at)) == both->native->count)
            return false;
        at += is_mark && is_waiting;
        is_waiting = !is_mark;
    }
    return !is_waiting;
}

size_t col_python_stack_merge(const struct col_python_runtime *runtime, const struct col_native_stack *native,
                              uintptr_t *python, uintptr_t *pcs, size_t max, bool *is_rooted)
{
    struct both both = {.runtime = runtime, .native = native};
    struct output output = {.pcs = pcs, .max = max};
    for (size_t i = 1; i < native->count && !both.has_descents; i++)
        both.has_descents = native->sps[i] < native->sps[i - 1];
    col_python_frames_read(runtime, native, python, max, &both.python);
    bool is_whole = both.python.is_whole;
    size_t count = python_count(&both);
    if (count == 0)
        return stand_in(&both, &output, is_whole);
    bool is_rooted_by_python = !*is_rooted && is_whole && runtime->is_program && are_placed(&both);
    *is_rooted = (*is_rooted || is_rooted_by_python) && !both.python.is_full;
    output.total = native->count + count + both.python.is_full;
    return merge(&both, &output, is_rooted_by_python);
}
