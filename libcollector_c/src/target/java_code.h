/* java_code.h -- the code that HotSpot makes: what lies at an address, and which methods were compiled into it */
#ifndef COL_TARGET_JAVA_CODE_H
#define COL_TARGET_JAVA_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/safe_read.h"
#include "target/java_runtime.h"

/* FROM ANYWHERE, SIGNAL HANDLERS INCLUDED. What is asked for must be the code of a frame of the calling thread, which keeps it where it is. */

enum col_java_code {
    COL_JAVA_CODE_INTERPRETER,
    COL_JAVA_CODE_METHOD, /* compiled */
    COL_JAVA_CODE_STUB,   /* that has a frame of a fixed size */
    COL_JAVA_CODE_BARE,   /* without one, or with one that it makes itself */
};

struct col_java_blob {
    enum col_java_code kind;
    uintptr_t start, end;    /* with what belongs to it */
    uintptr_t code;          /* its first instruction */
    uintptr_t frame_is_made; /* the first instruction that has all of the frame */
    uint32_t frame_bytes;    /* from the stack pointer to that of the caller */
    uintptr_t method;        /* of a compiled one */
};

bool col_java_code_find(const struct col_java_runtime *java, uintptr_t pc, struct col_java_blob *blob);

/* Where a compiled method begins when its caller is known to call the right one: what lies before has no frame. */
uintptr_t col_java_code_entry(const struct col_java_runtime *java, const struct col_java_blob *blob);

/* True for what frames of a compiled method return to once it is not to be used any more: from there the interpreter goes on. */
bool col_java_code_is_deoptimizer(const struct col_java_runtime *java, const struct col_java_blob *blob, uintptr_t pc);

/* Where such a frame would have gone on; `pc` of all others. 0: cannot be read. */
uintptr_t col_java_code_original_pc(const struct col_java_runtime *java, const struct col_java_blob *blob, uintptr_t pc,
                                    uintptr_t sp, struct col_stack_reader *reader);

/*
 * The addresses (target/java_method.h) of the methods that a compiled method executes at `pc`, the innermost first: those that were inlined, then itself. Without
 * debug information for it, itself alone. At least one, if its method is one at all, and at most `max`.
 */
size_t col_java_code_methods(const struct col_java_runtime *java, const struct col_java_blob *blob, uintptr_t pc,
                             bool is_exact, struct col_proved_pages *proved, uintptr_t *addresses, size_t max);

#endif
