/* code_finder.h -- which code an address belongs to, and which unwind table covers it */
#ifndef COL_TARGET_CODE_FINDER_H
#define COL_TARGET_CODE_FINDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/remote_memory.h"
#include "target/code_module.h"

/* ======== FROM ANYWHERE, SIGNAL HANDLERS INCLUDED ======== */

/* Finds the module of an address. False for code that nobody described, such as most JITs'. */
bool col_code_finder_find(uintptr_t pc, struct col_code_module *module);

/* Where the module's execution begins (_start), or 0. */
uintptr_t col_code_finder_entry_point(const struct col_code_module *module);

/* The same two, and two more, for code of another process too (target/remote_modules.h). `memory` NULL: of our own. */
bool col_code_finder_find_in(struct col_remote_memory *memory, uintptr_t pc, struct col_code_module *module);
uintptr_t col_code_finder_entry_point_in(struct col_remote_memory *memory, const struct col_code_module *module);

/*
 * True when `pc` may be executed: in an executable segment of a module, or in an executable mapping. The latter are
 * read from /proc/self/maps when an unknown address turns up, as seldom as keeps that under 2 % of the time.
 */
bool col_code_finder_is_code_in(struct col_remote_memory *memory, uintptr_t pc);

/* The same, but never reads that file: for words that are only perhaps addresses of code. */
bool col_code_finder_is_known_code_in(struct col_remote_memory *memory, uintptr_t pc);

/* ======== FROM ORDINARY THREADS ======== */

/*
 * `met` is called, from wherever col_code_finder_find is, with each loaded object it finds, again and again; it must be signal-safe. `link_map` is the
 * dynamic linker's. Only where the C library can be asked from a handler.
 */
void col_code_finder_observe(void (*met)(uintptr_t low, uintptr_t high, const void *link_map));

/* Looks at the list of modules again. Needed before the first walk, after dlopen and after dlclose. Where the C library can
   be asked from a handler (glibc 2.35) only the first call does something: it notes where the program lies. */
void col_code_finder_refresh(void);

/* In the child after fork: lets go of the locks that threads held which the child does not have. */
void col_code_finder_after_fork(void);

/*
 * For a hook on __register_frame: honours an .eh_frame that a program made itself. The memory stays readable until
 * remove_frames; after that call, call col_unwind_forget_modules and wait for walks under way before it is freed.
 * add_frames answers false when the table of such makers is full (1024 of them) or the section describes nothing.
 */
bool col_code_finder_add_frames(const void *eh_frame_begin);
void col_code_finder_remove_frames(const void *eh_frame_begin);

#endif
