/* code_module.h -- a piece of code with its unwind table: what the finder finds, and what tables are read for */
#ifndef COL_TARGET_CODE_MODULE_H
#define COL_TARGET_CODE_MODULE_H

#include <stdint.h>

/*
 * A loaded object (executable, library, vdso), or code with a table that its maker registered. It is valid as long
 * as the object stays loaded: who unloads one must wait until no walk is under way.
 */
struct col_code_module {
    uintptr_t low, high;               /* all of its addresses; high is the first behind it */
    const uint8_t *header;             /* .eh_frame_hdr, or NULL */
    const uint8_t *frames;             /* a registered .eh_frame without header, or NULL */
    uintptr_t tables_low, tables_high; /* what the header, or the frames, and all they point to must lie in */
};

#endif
