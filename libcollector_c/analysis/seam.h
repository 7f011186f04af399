/* seam.h -- the seam between the analysis in C and its caller: buffers in, buffers out
 *
 * The order of calls: open; for each log scan (and add_record for samples that stand nowhere in its frames); measure; for
 * each log attribute and collect; name the entries that were collected and expand; for each question begin, for each log
 * follow (and take its rows, if they were wanted), and finish. Then close.
 *
 * Buffers that are returned belong to the analysis and stay until the next call of the same function, or close.
 * Functions return 0 (or what they say) or -errno; after -ENOMEM only close makes sense. Nothing here is global:
 * analyses of different threads do not meet.
 */
#ifndef COL_ANALYSIS_SEAM_H
#define COL_ANALYSIS_SEAM_H

#include <stddef.h>
#include <stdint.h>

#define COL_ANALYSIS_NONE UINT32_MAX
#define COL_ANALYSIS_MOST_COLUMNS 64u
#define COL_ANALYSIS_MOST_VALUES 20u /* of one record */

/* No sample stands for more of a value than this, in its unit (of time: three days), so that sums of sums fit. */
#define COL_ANALYSIS_MOST_VALUE (UINT64_C(1) << 48)

struct col_analysis;

enum col_item_kind {
    COL_ITEM_FRAME,   /* a sound frame begins: offset and length of its payload */
    COL_ITEM_RECORDS, /* a run of its records that are no samples: value is where their bytes are in `bytes` */
    COL_ITEM_SAMPLES, /* one PCSAMPLE record: value is its number in the log */
    COL_ITEM_DAMAGE,
    COL_ITEM_MISSING, /* value: how many frames */
    COL_ITEM_TRUNCATED,
    COL_ITEM_SHAPED /* one record that is the same as one of RECORDS or SHAPED before, but for its numbers: value is where
                       these are in `numbers` */
};

/* Of a record of a known shape: which one, where its bytes are in `bytes`, and how many numbers follow: all behind its kind
   that are not negative and do not stand inside of other values. Shapes are known from one log to the next. */
enum col_shaped_field { COL_SHAPED_SHAPE, COL_SHAPED_BYTES, COL_SHAPED_COUNT, COL_SHAPED_NUMBERS };

/* What a log holds, in its order. offset and length are those in the log. */
struct col_item {
    uint64_t kind;
    uint64_t offset;
    uint64_t length;
    uint64_t value;
};

/* Behind these six numbers of a PCSAMPLE record come COL_ANALYSIS_MOST_VALUES: the sums of its values, as if all were times,
   in nanoseconds. */
enum col_head_field {
    COL_HEAD_TIME,
    COL_HEAD_LAST_TIME,
    COL_HEAD_THREAD,
    COL_HEAD_SOURCE,
    COL_HEAD_COUNT,
    COL_HEAD_OFFSET,
    COL_HEAD_SUMS,
    COL_HEAD_NUMBERS = COL_HEAD_SUMS + COL_ANALYSIS_MOST_VALUES
};

/* What a column of figures is: numbers of any kind, or nanoseconds, which answers have as seconds; whether its values are
   multiplied with what their thread says for user or system time; whether it counts samples that are counted nowhere else; whether a part of it is
   added to the first column, which part the thread says. */
enum col_column_kind {
    COL_COLUMN_TIME = 1,
    COL_COLUMN_USER = 2,
    COL_COLUMN_COUNT = 4,
    COL_COLUMN_MISSING = 8,
    COL_COLUMN_SYSTEM = 16
};

enum { COL_SCALE_USER, COL_SCALE_MISSING, COL_SCALE_SYSTEM, COL_SCALES };

/* The values of a record by column of the figures (NONE: it is left out), which of them are times in the record's unit, as
   bits, and the column that counts its samples (NONE: the number of samples). */
struct col_layout {
    uint32_t columns[COL_ANALYSIS_MOST_VALUES];
    uint32_t times;
    uint32_t counted_in;
};

struct col_scan {
    const struct col_item *items;
    size_t item_count;
    const uint8_t *bytes;
    size_t byte_count;
    const uint64_t *heads; /* COL_HEAD_NUMBERS a record */
    size_t record_count;
    const uint64_t *numbers;
    size_t number_count;
    uint64_t settled; /* offset before which everything was handed out or told */
};

/* Addresses of [start, end) belong to `space`, at elf address = address - bias, for as long as the log tells. */
struct col_segment {
    uint64_t start;
    uint64_t end;
    uint64_t bias;
    uint32_t space;
    uint32_t is_hidden; /* the recorder's own code, which no answer shows */
};

/* An address that occurs: of a file (elf address), or of a log's own space. `is_leaf`: the interrupted instruction
   itself, not a return address. */
struct col_entry {
    uint64_t address;
    uint32_t space;
    uint32_t is_leaf;
};

/* How entries expand: entry e has the meanings first_meaning[e] to first_meaning[e + 1] - 1, each from one of its
   `times` on (one fewer than meanings; times of entry e begin at first_meaning[e] - e); meaning m has the frames
   first_frame[m] to first_frame[m + 1] - 1, caller first, none if it is hidden. The caller keeps these buffers as
   long as it asks. */
struct col_expansion {
    const uint32_t *first_meaning;
    const uint64_t *times;
    const uint32_t *first_frame;
    const uint32_t *frames;
    uint64_t entry_count;
    uint64_t empty_frames[8]; /* by StackEnd: the frame that stands for a stack without any; NONE: there is none */
};

/* Samples from start_ns up to end_ns (UINT64_MAX: all of them); `phase` is what their cells are told apart by. */
struct col_span {
    uint64_t start_ns;
    uint64_t end_ns;
    uint64_t phase;
};

/* ROWS needs TREE: the samples one by one, and no sums of nodes. With UNFOLDED a TREE has a node for each call of a recursion. */
enum col_want { COL_WANT_GROUPS = 1, COL_WANT_TREE = 2, COL_WANT_EDGES = 4, COL_WANT_ROWS = 8, COL_WANT_UNFOLDED = 16 };

/* A sample as a row: these four, and behind them the columns, each in its unit and not multiplied. */
enum col_row_field { COL_ROW_THREAD, COL_ROW_IS_FINISHED, COL_ROW_NODE, COL_ROW_TIME, COL_ROW_VALUES };

struct col_question {
    const uint32_t *groups;       /* by frame: its group, below group_count */
    const struct col_span *spans; /* what counts; NULL: all samples, in phase 0 */
    const uint32_t *first_span;   /* by thread, and one more: where its spans begin, which rise */
    const double *scales;         /* COL_SCALES by thread: for USER, MISSING and SYSTEM columns */
    uint64_t frame_count;
    uint64_t thread_count;
    uint64_t group_count;
    uint64_t want;           /* EDGES and TREE exclude each other */
    const uint32_t *demands; /* by frame: which bits of `demanded` it meets; NULL: every stack counts */
    uint64_t demanded;       /* all of these must be met for a stack to count: LAST by its last frame, others by any */
    const uint8_t *roles;    /* by frame: what it says of the stack's category; NULL: nobody asks; needs demands */
    uint64_t category;       /* only stacks of this one count */
};

/* The bits of a demand that are more than that. Stacks with a NEVER frame do not count. If FROM is demanded, a stack
   begins at its first such frame; if UPTO is, it ends at the first from there on. Other demands are of whole stacks. */
#define COL_DEMAND_LAST (UINT32_C(1) << 31)
#define COL_DEMAND_NEVER (UINT32_C(1) << 30)
#define COL_DEMAND_FROM (UINT32_C(1) << 29)
#define COL_DEMAND_UPTO (UINT32_C(1) << 28)

/* The role of a frame, from the root on: OWN code ends all categories; THROUGH is part of what called it; others are
   categories, which keep what they call, but for those with the BASE bit, which are as own code. */
enum col_role { COL_ROLE_OWN = 0, COL_ROLE_THROUGH = 1, COL_ROLE_BASE = 0x80 };

/* Rows of `columns` + 1 figures: the columns, and the number of samples. With EDGES a node is a call: parents is
   the calling group (group_count: the start of the stack), node_groups the called one; finished holds the samples in
   which it is the outermost call of the called group, unfinished those in which it is the innermost of the calling. */
struct col_answer {
    const uint64_t *cells; /* rows: thread, phase, StackEnd, and the figures, not multiplied; not yet added up */
    size_t cell_count;
    const double *exclusive; /* GROUPS, EDGES: by group */
    const double *inclusive; /* GROUPS */
    const uint32_t *parents; /* TREE: by node; node 0 is the root */
    const uint32_t *node_groups;
    const double *finished; /* by node: stacks that reach the start of their thread */
    const double *unfinished;
    const double *finished_inclusive; /* TREE: with those of all nodes below */
    const double *unfinished_inclusive;
    size_t node_count;
};

struct col_analysis *col_analysis_open(void); /* NULL: no memory */
void col_analysis_close(struct col_analysis *analysis);

/* Reads a log; gives its number. The descriptor may be closed afterwards. */
int col_analysis_scan(struct col_analysis *analysis, int fd, struct col_scan *scan);

/* One PCSAMPLE record more for a log, kept in memory; -EBADMSG if it is none. *head is its numbers. */
int col_analysis_add_record(struct col_analysis *analysis, uint32_t log, const uint8_t *bytes, size_t count,
                            const uint64_t **head);

/* What the columns of all figures are, as bits of enum col_column_kind; once, before logs are attributed. -EINVAL: they are
   too many. */
int col_analysis_measure(struct col_analysis *analysis, const uint32_t *kinds, uint32_t columns);

/* 1 if col_analysis_collect and col_analysis_follow will read the file again. */
int col_analysis_needs_file(const struct col_analysis *analysis, uint32_t log);

/* Of each record of a log: whose it is (NONE: nobody's, it is left out), and the number of its layout. */
struct col_owners {
    const uint32_t *threads;
    const uint32_t *layout_numbers;
    uint64_t record_count;
    const struct col_layout *layouts;
    uint64_t layout_count;
};

/* Whose records are, and what their addresses mean; those of no segment are of `own_space`. Segments rise. */
int col_analysis_attribute(struct col_analysis *analysis, uint32_t log, const struct col_owners *owners,
                           const struct col_segment *segments, size_t segment_count, uint32_t own_space);

/* Adds so much to the times of a log's samples, modulo 2^64, when they are followed: its node has another clock. What scan and add_record told has none of it. */
int col_analysis_shift(struct col_analysis *analysis, uint32_t log, uint64_t shift_ns);

/* Finds the entries of a log. */
int col_analysis_collect(struct col_analysis *analysis, uint32_t log, int fd);

/* All entries so far, and (in *answer) cells of all samples so far; empty_counts, by StackEnd, stacks without a frame
   that shows. */
int col_analysis_entries(struct col_analysis *analysis, const struct col_entry **entries, size_t *count,
                         struct col_answer *answer, uint64_t empty_counts[8]);

/* Takes what entries mean. With frames NULL only meanings are known so far: then mark. */
int col_analysis_expand(struct col_analysis *analysis, const struct col_expansion *expansion);

/* Notes which meanings occur in a log: is_met[meaning] becomes 1. */
int col_analysis_mark(struct col_analysis *analysis, uint32_t log, int fd, uint8_t *is_met);

int col_analysis_begin(struct col_analysis *analysis, const struct col_question *question);
int col_analysis_follow(struct col_analysis *analysis, uint32_t log, int fd);

/* With ROWS: the samples of the log that was followed last, thread by thread. Nodes are those of finish. */
int col_analysis_rows(struct col_analysis *analysis, const uint64_t **rows, size_t *count);

int col_analysis_finish(struct col_analysis *analysis, struct col_answer *answer);

#endif
