/* unwind_java.h -- leaving a frame of the code that HotSpot makes */
#ifndef COL_SAMPLE_UNWIND_JAVA_H
#define COL_SAMPLE_UNWIND_JAVA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arch.h"
#include "sample/unwind_frames.h"
#include "target/java_runtime.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. */

enum col_unwind_java_leaving {
    COL_JAVA_LEFT_NOT, /* the frame is none of HotSpot's own, as that of a stub with a frame pointer, or not what it should be: nothing was done */
    COL_JAVA_LEFT,     /* the registers are the caller's */
    COL_JAVA_JUMPED,   /* the same, of a frame farther away: the walk has no room for all */
    COL_JAVA_NO_ROOM,
};

/*
 * Puts out what stands in the stack for a frame: the addresses of its methods (target/java_method.h), the innermost first, or its own; and leaves it. Of a frame that was
 * interrupted, `is_exact`, all registers must be known.
 */
enum col_unwind_java_leaving col_unwind_java_walk(const struct col_java_runtime *java, struct col_regs *regs,
                                                  struct col_stack_reader *reader, struct col_proved_pages *proved,
                                                  bool is_exact, struct col_unwind_frames *output);

#endif
