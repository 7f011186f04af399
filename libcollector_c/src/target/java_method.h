/* java_method.h -- Java's methods, each told to the log once, as code at addresses of its own */
#ifndef COL_TARGET_JAVA_METHOD_H
#define COL_TARGET_JAVA_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include "target/java_runtime.h"

/* FROM ANYWHERE, SIGNAL HANDLERS INCLUDED. */

#define COL_JAVA_FIRST_ADDRESS (UINT64_C(2) << 56) /* behind Python's code, where no process has memory either */

/* How a method is run. */
enum col_java_mode { COL_JAVA_INTERPRETED, COL_JAVA_COMPILED, COL_JAVA_INLINED };

#define COL_JAVA_WATCHED_ADDRESS (UINT64_C(7) << 54) /* the upper half of what logs have that tell of other processes */

/* A method that the log knows. */
struct col_java_method {
    uint64_t start;         /* of its addresses */
    uintptr_t instructions; /* its bytecodes */
    uint32_t bytes;
};

/*
 * Finds what may be a method, and tells the log of it where it is new. One whose address another had before is told from that one. `is_certain`: a frame of the calling
 * thread keeps it alive, so that what was a method at an earlier tick still is one, or another; all else is looked at with care. False: it is none, or could not be told of.
 */
bool col_java_method_find(const struct col_java_runtime *java, uintptr_t address, bool is_certain,
                          struct col_java_method *method);

/*
 * The address of a frame that executes the bytecode at an offset; of one that the method does not have, as of its first. Of each offset there are eight: two for
 * each mode, and this one is the second, so that the one before it, at which a return address is looked up, is of the same.
 */
static inline uint64_t col_java_method_address(const struct col_java_method *method, uintptr_t offset,
                                               enum col_java_mode mode)
{
    return method->start + (offset < method->bytes ? offset : 0) * 8 + 2 * (unsigned)mode + 1;
}

/* For another log, which knows nothing yet. */
void col_java_method_forget(void);

/* This log tells of other processes: its methods get addresses that their own logs do not give. Ordinary code. */
void col_java_method_watch(void);

#endif
