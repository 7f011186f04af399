/* record_fields.h -- the fields of each kind of record, as they go into an event; written by format_files.py from collector/format.py */
#ifndef COL_PMCLOG_RECORD_FIELDS_H
#define COL_PMCLOG_RECORD_FIELDS_H
/* clang-format off */

#include <stdint.h>

/* TEXTS, DATA: a pointer and, in the member after it, a count. VALUES: those of METRIC. */
enum col_record_field_type { END_OF_FIELDS, UNSIGNED_32, UNSIGNED_64, SIGNED_32, TEXT, TEXTS, DATA, VALUES };

struct col_record_field {
    uint16_t type;   /* enum col_record_field_type */
    uint16_t offset; /* of the member in struct pmclog_ev */
};

enum { COL_RECORD_KINDS = 40, COL_RECORD_MOST_FIELDS = 23 };

/* By kind; behind the last of a kind is END_OF_FIELDS. PCSAMPLE is not here: samples.c. */
extern const struct col_record_field col_record_fields[COL_RECORD_KINDS][COL_RECORD_MOST_FIELDS + 1];

#endif
