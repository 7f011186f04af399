/* scan.h -- a log from its first byte to its last: samples are noted, all the rest is handed on */
#ifndef COL_ANALYSIS_SCAN_H
#define COL_ANALYSIS_SCAN_H

#include "log.h"
#include "shapes.h"

/* The buffers that a scan fills; kept from one log to the next. Zeroed memory is an empty one. */
struct col_scanner {
    struct col_item *items;
    size_t item_count;
    size_t item_capacity;
    uint8_t *bytes;
    size_t byte_count;
    size_t byte_capacity;
    uint64_t *heads;
    size_t head_count;
    size_t head_capacity;
    uint64_t *numbers;
    size_t number_count;
    size_t number_capacity;
    struct col_shapes shapes; /* of all logs */
};

/* 0 or -errno. */
int col_scan_log(struct col_scanner *scanner, struct col_log *log, int fd, struct col_scan *scan);

void col_scan_free(struct col_scanner *scanner);

#endif
