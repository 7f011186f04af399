/* program_memory.c -- what the program points at when it calls us, which may not be there */
#include "entry/program_memory.h"

#include <stdint.h>
#include <string.h>

#include "base/safe_read.h"
#include "control/silence.h"

bool col_entry_read_program(const void *from, void *to, size_t bytes)
{
    if (!col_silence_is_on())
        return col_safe_read_bytes((uintptr_t)from, to, bytes);
    memcpy(to, from, bytes); /* no call of ours may ask for the page */
    return true;
}
