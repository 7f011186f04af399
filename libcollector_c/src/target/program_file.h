/* program_file.h -- what a file that is about to be run can take in: who loads it, by its first bytes */
#ifndef COL_TARGET_PROGRAM_FILE_H
#define COL_TARGET_PROGRAM_FILE_H

#include <stdbool.h>

#include "base/os.h"

enum col_program_kind {
    COL_PROGRAM_FIT,           /* our dynamic linker loads it, or none does, or nobody can tell */
    COL_PROGRAM_OTHER_MACHINE, /* another processor, or another size of pointers */
    COL_PROGRAM_OTHER_LIBRARY, /* its dynamic linker is that of another C library */
    COL_PROGRAM_OLDER_LIBRARY, /* ours, too old for this recorder */
};

/* From ordinary code, once: the dynamic linker of this process, and which GLIBC_2.N the recorder needs. */
void col_program_file_compare_with(const struct col_os_identity *linker, unsigned needed_minor);

/*
 * Looks at the file as execveat(2) would find it now; of a script, at its interpreter, and so on. `has_shell`: text without an interpreter is given to
 * /bin/sh, as execvp(3) does. Only system calls, less than 3 KB of stack, nothing written elsewhere: also for children of vfork.
 */
enum col_program_kind col_program_file_kind(int directory, const char *path, bool has_shell);

#endif
