/* eh_frame.h -- finding and taking apart the entries of .eh_frame */
#ifndef COL_TARGET_EH_FRAME_H
#define COL_TARGET_EH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "target/code_finder.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. Layout: LSB Core, "Exception Frames"; DWARF 5, section 6.4. */

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
};

/* Finds the entry that covers `pc` in the module's table. */
bool col_eh_frame_find(const struct col_code_module *module, uintptr_t pc, struct col_eh_fde *fde);

/* The range of code that a registered .eh_frame describes; false when it describes none. */
bool col_eh_frame_extent(const uint8_t *frames, uintptr_t *low, uintptr_t *high);

#endif
