/* modules.h -- which objects are loaded where, as the log is told */
#ifndef COL_TARGET_MODULES_H
#define COL_TARGET_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* Reads the path of the file that this process runs; "" if it cannot be read. Ordinary code, as a session begins. */
void col_modules_prepare(void);
const char *col_modules_executable(void);

/* Writes the objects that are loaded now. Ordinary code, once a session begins. */
void col_modules_begin(bool is_fork_child);

/* dlopen is about to be called: objects first seen later may have been loaded from now on. Signal-safe. */
void col_modules_expect(void);

/* An address was found in the object [low, high): writes it if it is new. `link_map` is the dynamic linker's, or NULL. Signal-safe. */
void col_modules_meet(uintptr_t low, uintptr_t high, const void *link_map);

/* Objects may have gone (dlclose returned), or come: writes what changed. Ordinary code. */
void col_modules_rescan(void);

/* In a fork child: the new log knows nothing yet. */
void col_modules_forget(void);

#endif
