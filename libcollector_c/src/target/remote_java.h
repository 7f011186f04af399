/* remote_java.h -- the HotSpot in another process, if there is one */
#ifndef COL_TARGET_REMOTE_JAVA_H
#define COL_TARGET_REMOTE_JAVA_H

#include <stdbool.h>

#include "target/java_runtime.h"

/*
 * Ordinary code, one thread at a time. Looks for it in the modules that are known; `owner` is a number of the process that no other ever had. False: there is none whose frames can
 * be read.
 */
bool col_remote_java_find(struct col_remote_memory *memory, uint64_t owner, struct col_java_runtime *found);

#endif
