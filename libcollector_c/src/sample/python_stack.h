/* python_stack.h -- the Python functions of a thread, put into its native stack where they belong */
#ifndef COL_SAMPLE_PYTHON_STACK_H
#define COL_SAMPLE_PYTHON_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/python_frames.h"

/*
 * Writes both kinds of frames into pcs[0 .. max-1], leaf first, and returns how many. The Python frames that an evaluator runs stand
 * behind it, towards the root; where the native stack ends too early they stand at its end. For stacks that have the
 * interpreter's frames but no Python ones a stand-in (target/python_code.h) stands where the interpreter is entered. From a signal handler.
 * `python` is room for `max` words. *is_rooted says whether the native stack comes to the start of its thread, and then whether the whole does: not if there
 * are more Python frames than room, for those nearest to the root are missing then.
 */
size_t col_python_stack_merge(const struct col_python_runtime *runtime, const struct col_native_stack *native,
                              uintptr_t *python, uintptr_t *pcs, size_t max, bool *is_rooted);

#endif
