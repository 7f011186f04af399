/* analysis.c -- the functions of the seam: what one analysis is, and that its caller gave what it should */
#include "seam.h"

#include "meanings.h"
#include "reading.h"
#include "scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct col_analysis {
    struct col_reading reading;
    struct col_scanner scanner;
    struct col_log *logs;
    size_t log_count;
    size_t log_capacity;
    size_t expanded_frames; /* one more than the highest frame of the expansion */
    uint64_t head[COL_HEAD_NUMBERS];
};

struct col_analysis *col_analysis_open(void)
{
    struct col_analysis *analysis = calloc(1, sizeof *analysis);
    if (analysis && !col_reading_begin(&analysis->reading)) {
        col_analysis_close(analysis);
        return NULL;
    }
    return analysis;
}

void col_analysis_close(struct col_analysis *analysis)
{
    if (!analysis)
        return;
    for (size_t number = 0; number < analysis->log_count; number++)
        col_log_free(&analysis->logs[number]);
    free(analysis->logs);
    col_scan_free(&analysis->scanner);
    col_reading_free(&analysis->reading);
    free(analysis);
}

int col_analysis_scan(struct col_analysis *analysis, int fd, struct col_scan *scan)
{
    if (analysis->log_count >= INT32_MAX ||
        !COL_ARRAY_RESERVE(analysis->logs, analysis->log_capacity, analysis->log_count + 1))
        return -ENOMEM;
    struct col_log *log = &analysis->logs[analysis->log_count];
    *log = (struct col_log){0};
    int error = col_scan_log(&analysis->scanner, log, fd, scan);
    if (error) {
        col_log_free(log);
        return error;
    }
    return (int)analysis->log_count++;
}

static struct col_log *log_of(const struct col_analysis *analysis, uint32_t log)
{
    return log < analysis->log_count ? &analysis->logs[log] : NULL;
}

int col_analysis_add_record(struct col_analysis *analysis, uint32_t number, const uint8_t *bytes, size_t count,
                            const uint64_t **head)
{
    struct col_log *log = log_of(analysis, number);
    struct col_sample_record record;
    if (!log)
        return -EINVAL;
    uint8_t *padded = calloc(1, count + COL_LOG_SLACK_BYTES);
    if (!padded)
        return -ENOMEM;
    memcpy(padded, bytes, count);
    int error = -EBADMSG;
    if (col_sample_record_read(&record, padded, count)) {
        error = col_log_add_record(log, padded, count, 0, true) ? 0 : -ENOMEM;
        col_sample_record_describe(&record, 0, analysis->head);
        *head = analysis->head;
    }
    free(padded);
    return error;
}

int col_analysis_measure(struct col_analysis *analysis, const uint32_t *kinds, uint32_t columns)
{
    if (columns > COL_ANALYSIS_MOST_COLUMNS)
        return -EINVAL;
    analysis->reading.measure.columns = columns;
    memcpy(analysis->reading.measure.kinds, kinds, columns * sizeof *kinds);
    return 0;
}

int col_analysis_needs_file(const struct col_analysis *analysis, uint32_t number)
{
    const struct col_log *log = log_of(analysis, number);
    return log && log->is_in_file && log->order_count > 0;
}

/* Whether all layouts name columns that there are. */
static bool are_sound(const struct col_analysis *analysis, const struct col_owners *owners)
{
    uint32_t columns = analysis->reading.measure.columns;
    for (uint64_t number = 0; number < owners->layout_count; number++) {
        const struct col_layout *layout = &owners->layouts[number];
        if (layout->counted_in != COL_ANALYSIS_NONE && layout->counted_in >= columns)
            return false;
        for (uint32_t value = 0; value < COL_ANALYSIS_MOST_VALUES; value++)
            if (layout->columns[value] != COL_ANALYSIS_NONE && layout->columns[value] >= columns)
                return false;
    }
    return true;
}

int col_analysis_attribute(struct col_analysis *analysis, uint32_t number, const struct col_owners *owners,
                           const struct col_segment *segments, size_t segment_count, uint32_t own_space)
{
    struct col_log *log = log_of(analysis, number);
    if (!log || !are_sound(analysis, owners))
        return -EINVAL;
    return col_log_attribute(log, owners, segments, segment_count, own_space);
}

int col_analysis_shift(struct col_analysis *analysis, uint32_t number, uint64_t shift_ns)
{
    struct col_log *log = log_of(analysis, number);
    if (!log)
        return -EINVAL;
    log->shift_ns = shift_ns;
    return 0;
}

int col_analysis_collect(struct col_analysis *analysis, uint32_t number, int fd)
{
    struct col_log *log = log_of(analysis, number);
    return log ? col_reading_log(&analysis->reading, log, fd, COL_TO_COLLECT) : -EINVAL;
}

int col_analysis_entries(struct col_analysis *analysis, const struct col_entry **entries, size_t *count,
                         struct col_answer *answer, uint64_t empty_counts[8])
{
    const struct col_reading *reading = &analysis->reading;
    *entries = reading->entries.entries;
    *count = reading->entries.count;
    *answer = (struct col_answer){.cells = reading->cells.rows, .cell_count = reading->cells.count};
    memcpy(empty_counts, reading->empty_counts, sizeof reading->empty_counts);
    return 0;
}

int col_analysis_expand(struct col_analysis *analysis, const struct col_expansion *expansion)
{
    struct col_reading *reading = &analysis->reading;
    if (!col_meanings_are_sound(expansion, &analysis->expanded_frames))
        return -EINVAL;
    reading->expansion = *expansion;
    for (size_t number = 0; number < analysis->log_count; number++)
        analysis->logs[number].is_changing = col_meanings_change(reading, &analysis->logs[number]);
    return 0;
}

int col_analysis_mark(struct col_analysis *analysis, uint32_t number, int fd, uint8_t *is_met)
{
    struct col_log *log = log_of(analysis, number);
    if (!log)
        return -EINVAL;
    analysis->reading.is_met = is_met;
    return col_reading_log(&analysis->reading, log, fd, COL_TO_MARK);
}

static bool is_sound(const struct col_analysis *analysis, const struct col_question *question)
{
    if (question->frame_count < analysis->expanded_frames || !analysis->reading.expansion.frames)
        return false;
    for (uint64_t thread = 0; question->spans && thread < question->thread_count; thread++)
        if (question->first_span[thread] > question->first_span[thread + 1])
            return false;
    for (uint64_t frame = 0; frame < question->frame_count; frame++)
        if (question->groups[frame] >= question->group_count)
            return false;
    return true;
}

int col_analysis_begin(struct col_analysis *analysis, const struct col_question *question)
{
    struct col_reading *reading = &analysis->reading;
    if (!is_sound(analysis, question))
        return -EINVAL;
    reading->question = *question;
    reading->cells.count = 0;
    reading->phase = 0;
    return col_follow_begin(&reading->follow, reading->measure.columns, question);
}

int col_analysis_follow(struct col_analysis *analysis, uint32_t number, int fd)
{
    struct col_log *log = log_of(analysis, number);
    return log ? col_reading_log(&analysis->reading, log, fd, COL_TO_FOLLOW) : -EINVAL;
}

int col_analysis_rows(struct col_analysis *analysis, const uint64_t **rows, size_t *count)
{
    *rows = analysis->reading.rows.rows;
    *count = analysis->reading.rows.count;
    return 0;
}

int col_analysis_finish(struct col_analysis *analysis, struct col_answer *answer)
{
    struct col_reading *reading = &analysis->reading;
    struct col_follow *follow = &reading->follow;
    bool is_tree = (follow->want & COL_WANT_TREE) != 0;
    bool has_sums = (follow->want & COL_WANT_ROWS) == 0;
    size_t nodes = is_tree || (follow->want & COL_WANT_EDGES) ? follow->tree.count : 0;
    if (has_sums && (!col_sums_reserve(&follow->finished, reading->measure.columns, nodes) ||
                     !col_sums_reserve(&follow->unfinished, reading->measure.columns, nodes) ||
                     (is_tree && !col_follow_sum_up(follow))))
        return -ENOMEM;
    *answer = (struct col_answer){
        .cells = reading->cells.rows,
        .cell_count = reading->cells.count,
        .exclusive = follow->exclusive.totals,
        .inclusive = follow->inclusive.totals,
        .parents = follow->tree.parents,
        .node_groups = follow->tree.groups,
        .finished = follow->finished.totals,
        .unfinished = follow->unfinished.totals,
        .finished_inclusive = follow->sums_below[0],
        .unfinished_inclusive = follow->sums_below[1],
        .node_count = nodes,
    };
    return 0;
}
