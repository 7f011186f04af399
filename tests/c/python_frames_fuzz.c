/*
 * python_frames_fuzz.c -- COUNT SEED: frames of CPython that are made of anything: nothing of them is read that cannot be, and an evaluator that has only
 * just begun costs its own frames, not the others. What frames may lie in, a chunk and a stack, has pages around it that nobody may touch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/safe_read.h"
#include "sample/python_frames.h"
#include "target/python_code.h"

enum { PAGE = COL_PAGE_BYTES, AREA = 2 * PAGE, STATE = 1024, MOST = 64, FUNCTION = 0x7000 };

static _Alignas(16) uint8_t state[STATE];
static uint8_t *chunk, *stack;
static unsigned long random_state;

static unsigned long dice(unsigned long sides)
{
    random_state = random_state * 6364136223846793005ul + 1442695040888963407ul;
    return (random_state >> 33) % sides;
}

/* ---- what frames lead to ---- */

uintptr_t col_python_runtime_thread_state(const struct col_python_runtime *python)
{
    (void)python;
    return (uintptr_t)state;
}

bool col_python_runtime_holds_gil(const struct col_python_runtime *python, uintptr_t at)
{
    (void)python, (void)at;
    return true;
}

/* Any object is one, but for every eighth. */
bool col_python_code_find(const struct col_python_runtime *python, uintptr_t object, struct col_python_code *code)
{
    (void)python;
    *code = (struct col_python_code){COL_PYTHON_FIRST_ADDRESS + object, 16, 0};
    return object % 64 != 0;
}

/* ---- memory ---- */

static void put(uint8_t *at, uintptr_t word)
{
    memcpy(at, &word, sizeof word);
}

static uint8_t *guarded_area(void)
{
    uint8_t *area = mmap(NULL, AREA + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED || mprotect(area + PAGE, AREA, PROT_READ | PROT_WRITE) != 0)
        exit(2);
    return area + PAGE;
}

static uintptr_t any_word(void)
{
    static const uintptr_t odd[] = {0, 1, 8, 0x100000008, 0x7ffffffff000, 0xffff800000000000, UINTPTR_MAX - 7, UINTPTR_MAX};
    uint8_t *places[] = {chunk, stack, state};
    unsigned long kind = dice(8);
    if (kind < 2)
        return odd[dice(sizeof odd / sizeof *odd)];
    uintptr_t place = (uintptr_t)places[kind < 5 ? 0 : kind < 7 ? 1 : 2];
    return place + dice(AREA + 64) / 8 * 8 - (dice(16) == 0 ? 64 : 0) + (dice(16) == 0 ? 4 : 0);
}

static void begin_chunk(const struct col_python_layout *layout, size_t used)
{
    const uintptr_t header[] = {0, AREA, used};
    memcpy(chunk, header, sizeof header);
    if (layout->state.datastack_chunk == 0)
        return;
    put(state + layout->state.datastack_chunk, (uintptr_t)chunk);
    put(state + layout->state.datastack_chunk + 8, (uintptr_t)chunk + used);
}

static struct col_python_frames read_frames(const struct col_python_runtime *runtime, uintptr_t *words)
{
    uintptr_t pc = 1, sp = (uintptr_t)stack;
    struct col_stack_bounds bounds = {sp, sp + AREA};
    struct col_native_stack native = {&pc, &sp, 1, &bounds};
    struct col_python_frames frames;
    col_python_frames_read(runtime, &native, words, MOST, &frames);
    if (frames.count > MOST)
        abort();
    return frames;
}

/* ---- the tests ---- */

static void fuzz(const struct col_python_runtime *runtime, unsigned long count)
{
    uintptr_t words[MOST];
    for (unsigned long i = 0; i < count; i++) {
        for (size_t at = 0; at < AREA; at += 8) {
            put(stack + at, any_word());
            put(chunk + at, any_word());
        }
        for (size_t at = 0; at < STATE; at += 8)
            put(state + at, any_word());
        begin_chunk(&runtime->layout, 24 + dice(AREA / 8 - 3) * 8);
        read_frames(runtime, words);
    }
}

/* 3.11 and 3.12: two evaluators, of which the inner one has hung its structure in and not filled it. */
static void evaluator_that_begins(const struct col_python_runtime *runtime, uintptr_t garbage)
{
    const struct col_python_layout *layout = &runtime->layout;
    uint8_t *frame = chunk + 24, *inner = stack + 64, *outer = stack + 128, *root = state + STATE - 64;
    uintptr_t words[MOST];
    memset(state, 0, STATE);
    memset(chunk, 0, AREA);
    begin_chunk(layout, 24 + layout->frame.bytes);
    put(state + layout->state.cframe, (uintptr_t)inner);
    put(inner + layout->cframe.frame, garbage);
    put(inner + layout->cframe.previous, (uintptr_t)outer);
    put(outer + layout->cframe.frame, (uintptr_t)frame);
    put(outer + layout->cframe.previous, (uintptr_t)root);
    put(frame + layout->frame.code, FUNCTION + 8);
    frame[layout->frame.owner] = layout->version < 0x030c; /* is_entry */
    struct col_python_frames frames = read_frames(runtime, words);
    uintptr_t expected[] = {COL_PYTHON_FIRST_ADDRESS + FUNCTION + 8 + 1, (uintptr_t)outer};
    if (!frames.is_whole || frames.count != 2 || memcmp(words, expected, sizeof expected) != 0) {
        printf("%x: %zu words%s behind %#lx\n", layout->version, frames.count, frames.is_whole ? ", all" : "", garbage);
        exit(1);
    }
}

int main(int argument_count, char **arguments)
{
    unsigned long count = strtoul(arguments[argument_count > 1], NULL, 10);
    random_state = argument_count > 2 ? strtoul(arguments[2], NULL, 10) : 1;
    chunk = guarded_area();
    stack = guarded_area();
    for (unsigned version = 0x0309; version <= 0x030f; version++) {
        struct col_python_runtime runtime = {0};
        if (!col_python_layout_find(NULL, version, 0, &runtime.layout))
            return 2;
        fuzz(&runtime, count);
        if (runtime.layout.chain != COL_PYTHON_CFRAME)
            continue;
        evaluator_that_begins(&runtime, 0x100000008);
        evaluator_that_begins(&runtime, 3);
        evaluator_that_begins(&runtime, (uintptr_t)chunk - 8);
        evaluator_that_begins(&runtime, (uintptr_t)chunk + 4096);
    }
    return 0;
}
