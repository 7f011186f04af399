/* eh_frame.h -- finding and taking apart the entries of .eh_frame */
#ifndef COL_TARGET_EH_FRAME_H
#define COL_TARGET_EH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/safe_read.h" /* struct col_proved_pages */
#include "target/code_module.h"

/*
 * CALLABLE FROM ANYWHERE, signal handlers included. Layout: LSB Core, "Exception Frames"; DWARF 5, section 6.4.
 *
 * Tables are untrusted input: nothing is read outside the module's bounds for them, nor from a page that was not proved
 * readable first. Whatever they hold, the answer is an entry or "not found".
 */

/* What a group of functions has in common. */
struct col_eh_cie {
    const uint8_t *instructions, *end;
    uint64_t code_factor;
    int64_t data_factor;
    uint64_t return_column;
    uint8_t pointer_encoding;
    bool has_augmentation_data;
    bool is_signal_frame;
};

/* One function. */
struct col_eh_fde {
    struct col_eh_cie cie;
    uintptr_t low, high;  /* the code that it describes */
    const uint8_t *start; /* the entry itself */
    const uint8_t *instructions, *end;
    uintptr_t to_original; /* as in struct col_cursor */
};

/* Finds the entry that covers `pc` in the module's table. All of it and of its CIE is in proved pages then. */
bool col_eh_frame_find(const struct col_code_module *module, uintptr_t pc, struct col_proved_pages *proved,
                       struct col_eh_fde *fde);

/* The module that a registered .eh_frame makes: the range of code that it describes, and where it ends. False when it
   describes none. */
bool col_eh_frame_measure(const uint8_t *frames, struct col_code_module *module);

#endif
