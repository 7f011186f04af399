/* no_java.c -- what the unwinder asks of HotSpot, for programs without one: the real thing would need the whole recorder */
#include "sample/unwind_java.h"
#include "target/java_runtime.h"
#include "target/remote_java.h"

const struct col_java_runtime *col_java_runtime(void)
{
    return NULL;
}

bool col_remote_java_find(struct col_remote_memory *memory, uint64_t owner, struct col_java_runtime *found)
{
    (void)memory, (void)owner, (void)found;
    return false;
}

enum col_unwind_java_leaving col_unwind_java_walk(const struct col_java_runtime *java, struct col_regs *regs,
                                                  struct col_stack_reader *reader, struct col_proved_pages *proved,
                                                  bool is_exact, struct col_unwind_frames *output)
{
    (void)java, (void)regs, (void)reader, (void)proved, (void)is_exact, (void)output;
    return COL_JAVA_LEFT_NOT;
}
