/* python_layout.c -- where CPython keeps what a stack is made of, version by version
 *
 * Source: the headers of each version: Include/cpython/{code,frameobject,pystate,unicodeobject}.h and
 * Include/internal/pycore_{frame,runtime,pystate}.h. They do not change once a version is released.
 */
#include "target/python_layout.h"

#include <stddef.h>
#include <string.h>

#include "base/safe_read.h"
#include "experiment/format.h"

static const struct col_python_layout layouts[] = {
    {.version = 0x0309,
     .chain = COL_PYTHON_FRAME,
     .where = COL_PYTHON_BYTES,
     .line_table = COL_LINES_LNOTAB,
     .runtime = {.tss_is_made = 584, .current_state = 568, .finalizing = 16},
     .state = {.frame = 24, .thread_id = 176},
     .frame = {.code = 32, .previous = 24, .where = 104},
     .code = {.first_line = 40, .file = 104, .name = 112, .line_table = 120, .bytecode = 48},
     .text = {48, 72}},
    {.version = 0x030a,
     .chain = COL_PYTHON_FRAME,
     .where = COL_PYTHON_UNITS,
     .line_table = COL_LINES_LINETABLE,
     .runtime = {.tss_is_made = 584, .current_state = 568, .finalizing = 16},
     .state = {.frame = 24, .thread_id = 176, .cframe = 48},
     .cframe = {.previous = 8},
     .frame = {.code = 32, .previous = 24, .where = 96},
     .code = {.first_line = 40, .file = 104, .name = 112, .line_table = 120, .bytecode = 48},
     .text = {48, 72}},
    {.version = 0x030b,
     .chain = COL_PYTHON_CFRAME,
     .where = COL_PYTHON_POINTER,
     .line_table = COL_LINES_LOCATIONS,
     .runtime = {.tss_is_made = 592, .current_state = 576, .finalizing = 24, .interpreters = 40},
     .interpreter = {.next = 0, .threads = 16},
     .state = {.cframe = 56, .next = 8, .thread_id = 152, .native_id = 160, .datastack_chunk = 296},
     .cframe = {.frame = 8, .previous = 16},
     .frame = {.code = 32, .previous = 48, .where = 56, .owner = 68},
     .code = {.first_line = 72, .file = 112, .name = 128, .line_table = 136},
     .text = {48, 72}},
    {.version = 0x030c,
     .chain = COL_PYTHON_CFRAME,
     .where = COL_PYTHON_POINTER,
     .line_table = COL_LINES_LOCATIONS,
     .runtime = {.finalizing = 24, .interpreters = 40},
     .interpreter = {.next = 0, .threads = 72},
     .state = {.cframe = 56,
               .next = 8,
               .thread_id = 136,
               .native_id = 144,
               .datastack_chunk = 232,
               .gil = 24,
               .gil_mask = 0x10},
     .cframe = {.frame = 0, .previous = 8},
     .frame = {.code = 0, .previous = 8, .where = 56, .owner = 70},
     .code = {.first_line = 68, .file = 112, .name = 128, .line_table = 136, .version = 92},
     .text = {40, 56}},
    {.version = 0x030d,
     .chain = COL_PYTHON_DIRECT,
     .where = COL_PYTHON_POINTER,
     .line_table = COL_LINES_LOCATIONS,
     .runtime = {.finalizing = 608},
     .state = {.frame = 72, .thread_id = 152, .datastack_chunk = 232, .gil = 32, .gil_mask = 0x20},
     .frame = {.code = 0, .previous = 8, .where = 56, .owner = 70},
     .code = {.first_line = 68, .file = 112, .name = 128, .line_table = 136, .version = 92},
     .text = {40, 56}},
    {.version = 0x030e,
     .chain = COL_PYTHON_DIRECT,
     .where = COL_PYTHON_POINTER,
     .line_table = COL_LINES_LOCATIONS,
     .runtime = {.finalizing = 784},
     .state = {.frame = 72, .thread_id = 152, .datastack_chunk = 232, .gil = 36, .gil_mask = 0xff},
     .frame = {.code = 0, .previous = 8, .where = 56, .owner = 74},
     .code = {.first_line = 68, .file = 112, .name = 128, .line_table = 136, .version = 92},
     .text = {40, 56}},
    {.version = 0x030f,
     .chain = COL_PYTHON_DIRECT,
     .where = COL_PYTHON_POINTER,
     .line_table = COL_LINES_LOCATIONS,
     .runtime = {.finalizing = 912},
     .state = {.frame = 72, .thread_id = 176, .datastack_chunk = 256, .gil = 36, .gil_mask = 0xff},
     .frame = {.code = 0, .previous = 8, .where = 56, .owner = 74},
     .code = {.first_line = 68, .file = 112, .name = 128, .line_table = 136, .version = 92},
     .text = {40, 56}},
};

/* _Py_DebugOffsets, of Include/internal/pycore_debug_offsets.h: where it has the offset of a member, in 3.13, 3.14 and 3.15. */
#define FIRST_PUBLISHED 0x030du
#define MOST_OFFSET (UINT16_MAX - sizeof(uintptr_t)) /* the last word of a frame ends within 16 bits */
#define MEMBER(name) offsetof(struct col_python_layout, name)
static const struct {
    uint16_t member, at[3];
} published[] = {
    {MEMBER(runtime.finalizing), {32, 32, 32}},
    {MEMBER(state.frame), {184, 208, 208}},
    {MEMBER(state.thread_id), {192, 216, 240}},
    {MEMBER(runtime.interpreters), {40, 40, 40}},
    {MEMBER(interpreter.next), {64, 64, 64}},
    {MEMBER(interpreter.threads), {72, 72, 72}},
    {MEMBER(state.next), {168, 192, 192}},
    {MEMBER(state.native_id), {200, 224, 248}},
    {MEMBER(state.datastack_chunk), {208, 232, 256}},
    {MEMBER(frame.previous), {232, 256, 320}},
    {MEMBER(frame.code), {240, 264, 328}},
    {MEMBER(frame.where), {248, 272, 336}},
    {MEMBER(frame.owner), {264, 288, 352}},
    {MEMBER(code.file), {280, 320, 384}},
    {MEMBER(code.name), {296, 336, 400}},
    {MEMBER(code.line_table), {304, 344, 408}},
    {MEMBER(code.first_line), {312, 352, 416}},
    {MEMBER(text.ascii), {560, 640, 736}},
};

struct debug_offsets {
    char cookie[8];
    uint64_t version, is_free_threaded;
};

static bool read_debug_offsets(struct col_proved_pages *proved, uintptr_t runtime, struct debug_offsets *offsets)
{
    return col_safe_read_copy(proved, runtime, offsets, sizeof *offsets) && memcmp(offsets->cookie, "xdebugpy", 8) == 0;
}

bool col_python_layout_is_free_threaded(struct col_remote_memory *memory, uintptr_t runtime)
{
    struct debug_offsets offsets;
    struct col_proved_pages proved = {.memory = memory};
    return read_debug_offsets(&proved, runtime, &offsets) && offsets.is_free_threaded != 0;
}

static void take_published(struct col_python_layout *layout, struct col_proved_pages *proved, uintptr_t runtime)
{
    struct debug_offsets offsets;
    if (layout->version < FIRST_PUBLISHED || !read_debug_offsets(proved, runtime, &offsets) ||
        offsets.version >> 16 != layout->version)
        return;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        uint16_t *member = (uint16_t *)((char *)layout + published[i].member);
        uintptr_t offset;
        if (col_safe_read_copy(proved, runtime + published[i].at[layout->version - FIRST_PUBLISHED], &offset,
                               sizeof offset) &&
            offset < MOST_OFFSET)
            *member = (uint16_t)offset;
    }
}

/* Whole words are read: all that there are up to the last of these. */
static uint16_t frame_bytes(const struct col_python_layout *layout)
{
    const uint16_t read[] = {layout->frame.code, layout->frame.previous, layout->frame.where, layout->frame.owner};
    uint16_t last = 0;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        last = read[i] > last ? read[i] : last;
    return (uint16_t)(last / sizeof(uintptr_t) * sizeof(uintptr_t) + sizeof(uintptr_t));
}

bool col_python_layout_find(struct col_remote_memory *memory, unsigned version, uintptr_t runtime,
                            struct col_python_layout *layout)
{
    struct col_proved_pages proved = {.memory = memory};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].version == version) {
            *layout = layouts[i];
            take_published(layout, &proved, runtime);
            layout->frame.bytes = frame_bytes(layout);
            return true;
        }
    return false;
}
