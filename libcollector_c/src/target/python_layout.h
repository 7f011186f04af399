/* python_layout.h -- where CPython keeps what a stack is made of, version by version */
#ifndef COL_TARGET_PYTHON_LAYOUT_H
#define COL_TARGET_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/remote_memory.h"

/* How a thread's state leads to its innermost frame. */
enum col_python_chain {
    COL_PYTHON_FRAME,  /* to a frame object; each frame is run by an evaluator of its own (3.9, 3.10) */
    COL_PYTHON_CFRAME, /* by way of a structure that each evaluator has on the C stack (3.11, 3.12) */
    COL_PYTHON_DIRECT, /* to a frame; each evaluator has an entry frame on the C stack (3.13 on) */
};

/* How a frame says where it is. */
enum col_python_where {
    COL_PYTHON_BYTES,   /* int: offset of the last instruction (3.9) */
    COL_PYTHON_UNITS,   /* int: its number (3.10) */
    COL_PYTHON_POINTER, /* its address (3.11 on) */
};

/* Offsets in bytes. The structures' names are those of CPython's headers. */
struct col_python_layout {
    uint16_t version; /* 0x030b: 3.11 */
    uint8_t chain, where, line_table /* enum col_line_table */;
    struct {
        uint16_t tss_is_made; /* _PyRuntime.gilstate.autoTSSkey._is_initialized; 0: the interpreter checks it itself */
        uint16_t current_state; /* of the thread that holds the GIL, up to 3.11 */
        uint16_t finalizing;
        uint16_t interpreters; /* the first of them. Here and below what leads to all threads is known from 3.11 on */
    } runtime;
    struct {
        uint16_t next, threads;
    } interpreter;
    struct {
        uint16_t frame;  /* the innermost one */
        uint16_t cframe; /* 3.10 to 3.12: what the innermost evaluator has on the C stack */
        uint16_t next;   /* of the interpreter's; the one before stands in front of that */
        uint16_t thread_id;
        uint16_t native_id;       /* the kernel's */
        uint16_t datastack_chunk; /* 0: there is none; datastack_top lies behind it */
        uint16_t gil,
            gil_mask; /* a byte that says whether it holds the GIL; up to 3.11 the holder is runtime.current_state */
    } state;
    struct {
        uint16_t frame, previous;
    } cframe;
    struct {
        uint16_t code, previous, where;
        uint16_t owner; /* 3.11: is_entry */
        uint16_t bytes; /* of it that are read */
    } frame;
    struct {
        uint16_t first_line, file, name, line_table;
        uint16_t bytecode; /* a bytes object; 0: the instructions follow the code object */
        uint16_t version;  /* 0: it has none */
    } code;
    struct {
        uint16_t ascii, other; /* the characters of compact strings */
    } text;
};

/*
 * False: no layout is known for this version (0x030b: 3.11). From 3.13 on _PyRuntime, at `runtime`, begins with a table of offsets for debuggers, which
 * counts where it says something else. `memory` is that of another process, or NULL. From anywhere.
 */
bool col_python_layout_find(struct col_remote_memory *memory, unsigned version, uintptr_t runtime,
                            struct col_python_layout *layout);

/* A build without a global interpreter lock, as that table says. */
bool col_python_layout_is_free_threaded(struct col_remote_memory *memory, uintptr_t runtime);

#endif
