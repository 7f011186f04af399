/* python_layout.c -- where CPython keeps what a stack is made of, version by version
 *
 * Source: the headers of each version: Include/cpython/{code,frameobject,pystate,unicodeobject}.h and
 * Include/internal/pycore_{frame,runtime,pystate}.h. They do not change once a version is released.
 */
#include "target/python_layout.h"

#include <stddef.h>

#include "experiment/format.h"

static const struct col_python_layout layouts[] = {
    {.version = 0x0309,
     .chain = COL_PYTHON_FRAME,
     .where = COL_PYTHON_BYTES,
     .line_table = COL_LINES_LNOTAB,
     .runtime = {.tss_is_made = 584, .current_state = 568, .finalizing = 16},
     .state = {.frame = 24, .thread_id = 176},
     .frame = {.code = 32, .previous = 24, .where = 104, .bytes = 112},
     .code = {.first_line = 40, .file = 104, .name = 112, .line_table = 120, .bytecode = 48},
     .text = {48, 72}},
    {.version = 0x030a,
     .chain = COL_PYTHON_FRAME,
     .where = COL_PYTHON_UNITS,
     .line_table = COL_LINES_LINETABLE,
     .runtime = {.tss_is_made = 584, .current_state = 568, .finalizing = 16},
     .state = {.frame = 24, .thread_id = 176},
     .frame = {.code = 32, .previous = 24, .where = 96, .bytes = 104},
     .code = {.first_line = 40, .file = 104, .name = 112, .line_table = 120, .bytecode = 48},
     .text = {48, 72}},
    {.version = 0x030b,
     .chain = COL_PYTHON_CFRAME,
     .where = COL_PYTHON_POINTER,
     .line_table = COL_LINES_LOCATIONS,
     .runtime = {.tss_is_made = 592, .current_state = 576, .finalizing = 24},
     .state = {.frame = 56, .thread_id = 152, .datastack_chunk = 296},
     .cframe = {.frame = 8, .previous = 16},
     .frame = {.code = 32, .previous = 48, .where = 56, .owner = 68, .bytes = 72},
     .code = {.first_line = 72, .file = 112, .name = 128, .line_table = 136},
     .text = {48, 72}},
    {.version = 0x030c,
     .chain = COL_PYTHON_CFRAME,
     .where = COL_PYTHON_POINTER,
     .line_table = COL_LINES_LOCATIONS,
     .runtime = {.finalizing = 24},
     .state = {.frame = 56, .thread_id = 136, .datastack_chunk = 232},
     .cframe = {.frame = 0, .previous = 8},
     .frame = {.code = 0, .previous = 8, .where = 56, .owner = 70, .bytes = 72},
     .code = {.first_line = 68, .file = 112, .name = 128, .line_table = 136, .version = 92},
     .text = {40, 56}},
    {.version = 0x030d,
     .chain = COL_PYTHON_DIRECT,
     .where = COL_PYTHON_POINTER,
     .line_table = COL_LINES_LOCATIONS,
     .runtime = {.finalizing = 608},
     .state = {.frame = 72, .thread_id = 152, .datastack_chunk = 232},
     .frame = {.code = 0, .previous = 8, .where = 56, .owner = 70, .bytes = 72},
     .code = {.first_line = 68, .file = 112, .name = 128, .line_table = 136, .version = 92},
     .text = {40, 56}},
    {.version = 0x030e,
     .chain = COL_PYTHON_DIRECT,
     .where = COL_PYTHON_POINTER,
     .line_table = COL_LINES_LOCATIONS,
     .runtime = {.finalizing = 784},
     .state = {.frame = 72, .thread_id = 152, .datastack_chunk = 232},
     .frame = {.code = 0, .previous = 8, .where = 56, .owner = 74, .bytes = 80},
     .code = {.first_line = 68, .file = 112, .name = 128, .line_table = 136, .version = 92},
     .text = {40, 56}},
    {.version = 0x030f,
     .chain = COL_PYTHON_DIRECT,
     .where = COL_PYTHON_POINTER,
     .line_table = COL_LINES_LOCATIONS,
     .runtime = {.finalizing = 912},
     .state = {.frame = 72, .thread_id = 176, .datastack_chunk = 256},
     .frame = {.code = 0, .previous = 8, .where = 56, .owner = 74, .bytes = 80},
     .code = {.first_line = 68, .file = 112, .name = 128, .line_table = 136, .version = 92},
     .text = {40, 56}},
};

const struct col_python_layout *col_python_layout_of(unsigned version)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].version == version)
            return &layouts[i];
    return NULL;
}
