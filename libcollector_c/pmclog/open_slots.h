/* open_slots.h -- the slots at the end of a log that was not brought to its end (docs/format.md, Open frames) */
#ifndef COL_PMCLOG_OPEN_SLOTS_H
#define COL_PMCLOG_OPEN_SLOTS_H

#include "cursor.h"

#include <sys/types.h>

struct col_open_slot {
    uint32_t state;       /* COL_OPEN_STATE_FREE where there is nothing to be had from it */
    uint32_t value_count; /* of each row */
    uint32_t thread;
    uint32_t source;
    uint32_t unit_ns;
    uint64_t time_ns;
    uint64_t pending_ns;       /* CPU time of the thread that none of its samples stands for */
    struct col_cursor content; /* rows, records, or text without its zero byte */
};

/* The next slot from *offset on that was ever written to, read into `buffer` of COL_OPEN_SLOT_BYTES; *offset moves behind it. 1, 0 if there
   is none, -errno. */
int col_open_slots_next(int fd, off_t area, off_t *offset, uint8_t *buffer, struct col_open_slot *slot);

#endif
