/* python_code.h -- Python's code objects, each told to the log once, as code at addresses of its own */
#ifndef COL_TARGET_PYTHON_CODE_H
#define COL_TARGET_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "target/python_runtime.h"

/* FROM ANYWHERE, SIGNAL HANDLERS INCLUDED. */

#define COL_PYTHON_FIRST_ADDRESS (UINT64_C(1) << 56)   /* where no process has memory */
#define COL_PYTHON_WATCHED_ADDRESS (UINT64_C(3) << 55) /* and the first that its own log does not give away */

/* A code object as stacks have it: each of its bytes is two at [start, start + 2 * bytes). */
struct col_python_code {
    uint64_t start;
    uint32_t bytes;         /* of its instructions */
    uintptr_t instructions; /* where they are; 0 where frames count instead of pointing */
};

/*
 * Finds the number of a code object that a frame of the calling thread keeps alive, and tells the log of it where it is new. An address that another
 * code object had before is told from that one. False: `object` is none, or it could not be told of.
 */
bool col_python_code_find(const struct col_python_runtime *python, uintptr_t object, struct col_python_code *code);

/*
 * A frame's address: of an instruction of two bytes there are four, and with the one before it, at which a return address is looked up, this one is in the
 * first half if the thread holds the GIL, else in the second.
 */
static inline uint64_t col_python_code_address(uint64_t start, uint32_t offset, bool holds_gil)
{
    return start + 2 * (uint64_t)(offset & ~1u) + (holds_gil ? 1 : 3);
}

/* Code that stands for what cannot be had. */
enum col_python_stand_in {
    COL_PYTHON_INTERPRETER, /* the interpreter runs no Python function: it starts, ends, or collects garbage then */
    COL_PYTHON_UNREADABLE,  /* the frames were being changed */
    COL_PYTHON_STAND_INS
};
uint64_t col_python_code_stand_in(enum col_python_stand_in which);

/* For another log, which knows nothing yet. */
void col_python_code_forget(void);

/* For a log that has the code of other processes: each record's thread is the process, 0 of stand-ins. */
void col_python_code_watch(void);

#endif
