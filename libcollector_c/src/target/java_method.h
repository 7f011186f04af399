/* java_method.h -- Java's methods, each told to the log once, as code at addresses of its own */
#ifndef COL_TARGET_JAVA_METHOD_H
#define COL_TARGET_JAVA_METHOD_H

#include <stdint.h>

#include "target/java_runtime.h"

/* FROM ANYWHERE, SIGNAL HANDLERS INCLUDED. */

#define COL_JAVA_FIRST_ADDRESS (UINT64_C(2) << 56) /* behind Python's code, where no process has memory either */

/* How a method is run. */
enum col_java_mode { COL_JAVA_INTERPRETED, COL_JAVA_COMPILED, COL_JAVA_INLINED };

enum { COL_JAVA_NO_BYTECODE = -1 };

/*
 * The address of a frame that executes `bytecode`, an offset, of `method`, which the log is told of where it is new. Of each offset there are eight: two for each mode, and
 * this one is the second, so that the one before it, at which a return address is looked up, is of the same. A method whose address another had before is told
 * from that one. 0: it is none, or could not be told of.
 */
uint64_t col_java_method_address(const struct col_java_runtime *java, uintptr_t method, int32_t bytecode,
                                 enum col_java_mode mode);

/* The offset that a pointer to a bytecode stands for; COL_JAVA_NO_BYTECODE if it points to none of the method's, which must be one. */
int32_t col_java_method_offset(const struct col_java_runtime *java, uintptr_t method, uintptr_t pointer);

/* For another log, which knows nothing yet. */
void col_java_method_forget(void);

#endif
