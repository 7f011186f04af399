/* unwind_java.h -- leaving a frame of the code that HotSpot makes */
#ifndef COL_SAMPLE_UNWIND_JAVA_H
#define COL_SAMPLE_UNWIND_JAVA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"
#include "target/java_runtime.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. */

enum { COL_JAVA_MOST_INLINED = 64 };

/* What stands in the stack for one frame: the addresses of its methods (target/java_method.h), the innermost first. None: its own address. */
struct col_unwind_java_frame {
    uintptr_t addresses[COL_JAVA_MOST_INLINED];
    size_t count;
};

/*
 * Moves the registers to the caller. Of a frame that was interrupted, `is_exact`, all registers are known. False, and nothing changed: the frame is none of
 * HotSpot's own, such as those of stubs that keep a frame pointer, or is not what it should be.
 */
bool col_unwind_java_leave(const struct col_java_runtime *java, struct col_regs *regs, struct col_stack_reader *reader,
                           struct col_proved_pages *proved, bool is_exact, struct col_unwind_java_frame *frame);

#endif
