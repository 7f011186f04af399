/* python_frames.h -- the Python frames of a thread, and where the evaluators are that run them */
#ifndef COL_SAMPLE_PYTHON_FRAMES_H
#define COL_SAMPLE_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/python_runtime.h"

/* A native stack, leaf first: of each frame its address, and where the part of the C stack begins that is its own. */
struct col_native_stack {
    const uintptr_t *pcs, *sps;
    size_t count;
    const struct col_stack_bounds *bounds; /* of the thread */
};

/* No address: the frames before it are run by the next evaluator there is (up to 3.10). */
#define COL_PYTHON_LOOP_MARK ((uintptr_t)1)

/* Innermost first: addresses as the log has them (target/python_code.h), and behind each run of them its mark, which is an
   address on the part of the C stack of the evaluator that runs them, or COL_PYTHON_LOOP_MARK. */
struct col_python_frames {
    uintptr_t *words;
    size_t count;
    bool is_full;  /* there were more than there is room for */
    bool is_whole; /* all of the thread's frames were found */
};

/* Reads the frames of the calling thread into words[0 .. max-1]. From a signal handler. */
void col_python_frames_read(const struct col_python_runtime *runtime, const struct col_native_stack *native,
                            uintptr_t *words, size_t max, struct col_python_frames *frames);

#endif
