/* java_runtime.h -- the HotSpot in this process, if there is one */
#ifndef COL_TARGET_JAVA_RUNTIME_H
#define COL_TARGET_JAVA_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "target/java_layout.h"

/* Set once, when libjvm.so is found. */
struct col_java_runtime {
    struct col_java_layout layout;
    uintptr_t low, high; /* the module that it is in */
    uint64_t owner;      /* a number of the process that it is in; 0: our own */
};

/* If the object is a HotSpot, the log is told; stacks have its methods from now on. From anywhere, signal handlers included. */
void col_java_runtime_meet(const char *path, uintptr_t low, uintptr_t high, uintptr_t bias, uintptr_t dynamic);

/* Another object is about to be loaded: looks again at a HotSpot that was met too early. The same. */
void col_java_runtime_look(void);

/* NULL: there is none that can be read. From anywhere, signal handlers included. */
const struct col_java_runtime *col_java_runtime(void);

/* True where the code that it makes may lie. The same. */
static inline bool col_java_runtime_has_code(const struct col_java_runtime *java, uintptr_t pc)
{
    return pc >= col_java_get_pointer(&java->layout, COL_JAVA_LOW_BOUND, 0) &&
           pc < col_java_get_pointer(&java->layout, COL_JAVA_HIGH_BOUND, 0);
}

#endif
