/* log.h -- one log: where its samples are, whose they are, what its addresses mean */
#ifndef COL_ANALYSIS_LOG_H
#define COL_ANALYSIS_LOG_H

#include "addresses.h"
#include "seam.h"

/* Records of small logs, and those that stand in no frame, are kept; the others are read again from the file. */
#define COL_LOG_KEPT_BYTES ((size_t)256 << 10)

enum { COL_LOG_SLACK_BYTES = 8 }; /* columns are loaded eight bytes at a time */

struct col_log_record {
    uint64_t offset; /* in the file */
    size_t kept;     /* where it is in `kept`, plus one; 0: in the file only */
    uint32_t bytes;
    uint32_t thread; /* NONE: nobody's */
    uint32_t layout; /* its number */
};

/* Zeroed memory is an empty log. */
struct col_log {
    struct col_log_record *records;
    size_t record_count;
    size_t record_capacity;
    uint32_t *order; /* the records that are somebody's, by thread */
    size_t order_count;
    size_t order_capacity;
    uint8_t *kept;
    size_t kept_bytes;
    size_t kept_capacity;
    struct col_addresses addresses;
    uint32_t *caller_entries; /* by number of address; NONE: it is no caller */
    uint32_t *leaf_entries;
    size_t entry_numbers; /* how many addresses these know */
    struct col_layout *layouts;
    struct col_segment *segments;
    size_t segment_count;
    uint64_t shift_ns; /* is added to the times of its samples, modulo 2^64 */
    uint32_t own_space;
    bool is_in_file;  /* records have to be read from the file */
    bool is_changing; /* has an entry of several meanings */
};

/* Notes a record; keeps its bytes if they are few, or stand nowhere else (offset NONE). False if memory is short. */
bool col_log_add_record(struct col_log *log, const uint8_t *bytes, size_t count, uint64_t offset, bool must_keep);

/* The bytes of a record, from memory or from the file by way of *buffer; NULL if they cannot be read. */
const uint8_t *col_log_record_bytes(const struct col_log *log, const struct col_log_record *record, int fd,
                                    uint8_t **buffer, size_t *capacity);

/* Copies whose the records are and what the addresses mean. 0 or -errno. */
int col_log_attribute(struct col_log *log, const struct col_owners *owners, const struct col_segment *segments,
                      size_t segment_count, uint32_t own_space);

/* The segment that an address lies in; NULL if there is none. */
const struct col_segment *col_log_segment_of(const struct col_log *log, uint64_t address);

void col_log_free(struct col_log *log);

#endif
