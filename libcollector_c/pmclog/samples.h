/* samples.h -- one PCSAMPLE record, handed out sample by sample */
#ifndef COL_PMCLOG_SAMPLES_H
#define COL_PMCLOG_SAMPLES_H

#include "pmclog.h"
#include "sample_fields.h"
#include "source_values.h"
#include "stacks.h"

struct col_samples {
    size_t next;
    size_t count;
    struct col_sample_fields fields;
    struct col_stacks stacks;
    uint64_t time_ns; /* of the sample before `next` */
    uint32_t source;
    uint32_t thread;
    pid_t pid;
    off_t offset;
    struct col_source_values declared;       /* the caller's to set, like pid and offset */
    uint64_t numbers[COL_SAMPLE_MAX_VALUES]; /* the values of the sample that was handed out last */
};

/* Takes a record whose first three fields are read; `fields` are left in it. The record's bytes must stay until its last sample is handed out,
   and eight more must be readable. 0, -EBADMSG if it is not what the format says, -ENOMEM. */
int col_samples_begin(struct col_samples *samples, struct col_cursor *record, size_t fields, uint64_t time_ns,
                      uint32_t thread);

/* Fills everything of *ev but pl_count. There must be a sample left. */
void col_samples_next(struct col_samples *samples, struct pmclog_ev *ev);

#endif
