/* remote_modules.h -- which code another process has, and where its unwind tables are */
#ifndef COL_TARGET_REMOTE_MODULES_H
#define COL_TARGET_REMOTE_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/remote_memory.h"
#include "target/code_module.h"

/*
 * Read from /proc/PID/maps when it is first asked for, and again when a pc turns up in no code that is known, as seldom as keeps that under 2 % of the time.
 * A module is a mapping that begins with the header of an ELF file of this processor and has the code that the header tells of.
 */

/* Finds the module of an address that is code. */
bool col_remote_modules_find(struct col_remote_memory *memory, uintptr_t pc, struct col_code_module *module);

/* True in an executable mapping. With `may_read` an unknown address makes it read again. */
bool col_remote_modules_are_code(struct col_remote_memory *memory, uintptr_t pc, bool may_read);

/* Where the module's execution begins, or 0. */
uintptr_t col_remote_modules_entry_point(struct col_remote_memory *memory, const struct col_code_module *module);

/* The modules that export something, one after the other, as far as they are known: false when there are no more. *index begins at 0. */
struct col_remote_object {
    uintptr_t low, high, bias, dynamic;
};
bool col_remote_modules_next_object(const struct col_remote_memory *memory, size_t *index,
                                    struct col_remote_object *object);

/* Changes whenever a reading has found other modules or other code than the one before. */
uint64_t col_remote_modules_version(const struct col_remote_memory *memory);

/* A walk begins. Now and then, at most once in five seconds, all is read again: a library may lie where another one lay before. */
void col_remote_modules_begin(struct col_remote_memory *memory);

/* They are read again at the next question. */
void col_remote_modules_expect(struct col_remote_memory *memory);

void col_remote_modules_close(struct col_remote_memory *memory);

#endif
