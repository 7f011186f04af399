/* reading_state.h -- what the reading of a log goes by, and where it stands */
#ifndef COL_ANALYSIS_READING_STATE_H
#define COL_ANALYSIS_READING_STATE_H

#include "cells.h"
#include "entries.h"
#include "follow.h"
#include "log.h"
#include "rows.h"
#include "sample_record.h"
#include "walk.h"

/* Why a log is read: to find its entries; to see which of their meanings occur; to answer a question. */
enum col_purpose { COL_TO_COLLECT, COL_TO_MARK, COL_TO_FOLLOW };

/* What the frames on the path meet of a question's demands: any of them, and the last; and the category they are of. */
struct col_met {
    uint32_t any;
    uint32_t last;
    uint8_t category;
    bool has_frames;
};

/* Zeroed memory, but for `measure`, is ready. */
struct col_reading {
    struct col_measure measure;
    enum col_purpose purpose;
    struct col_log *log;
    struct col_walk walk;
    uint32_t synced; /* so many callers of the path were handled, and are those still */
    uint32_t pushed; /* FOLLOW: so many were pushed; `marks` says how deep the path of groups was before each */
    uint32_t *marks;
    struct col_met met; /* FOLLOW: by the frames that were pushed; `met_before` each address */
    struct col_met *met_before;
    uint64_t phase;  /* FOLLOW: of the span that is read */
    uint64_t now_ns; /* from here on what changes its meaning means what it does */
    uint64_t *weights;
    size_t weight_capacity;
    uint8_t *buffer;
    size_t buffer_capacity;
    uint8_t *flags; /* COLLECT: by address */
    size_t flag_capacity;
    uint8_t *is_met;         /* MARK: by meaning */
    uint32_t *caller_groups; /* FOLLOW: by address; NONE: ask the expansion */
    uint32_t *leaf_groups;
    size_t caller_capacity, leaf_capacity;
    uint32_t *seen; /* by address: the last record whose turns its own are among */
    size_t seen_capacity;
    uint64_t *turns; /* when addresses of a record change their meaning */
    size_t turn_count, turn_capacity;
    uint64_t empty_counts[COL_CELLS_ENDS];
    struct col_cells cells;
    struct col_rows rows; /* FOLLOW: of this log, if they are wanted */
    struct col_entries entries;
    struct col_expansion expansion;
    struct col_question question;
    struct col_follow follow;
};

#endif
