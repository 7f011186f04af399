/* reading.c -- the samples of one log, thread by thread, record by record, stack by stack */
#include "reading.h"

#include "collect.h"
#include "meanings.h"

#include "experiment/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool col_reading_begin(struct col_reading *reading)
{
    reading->walk.path = malloc(COL_TOKENS_MAX_DEPTH * sizeof *reading->walk.path);
    reading->marks = malloc(COL_TOKENS_MAX_DEPTH * sizeof *reading->marks);
    reading->met_before = malloc(COL_TOKENS_MAX_DEPTH * sizeof *reading->met_before);
    return reading->walk.path && reading->marks && reading->met_before;
}

static uint8_t category_after(uint8_t category, uint8_t role)
{
    if (role == COL_ROLE_THROUGH)
        return category;
    bool is_free = role == COL_ROLE_OWN || (role & COL_ROLE_BASE) || category == COL_ROLE_OWN;
    return is_free || (category & COL_ROLE_BASE) ? role : category;
}

/* Notes what a frame meets; false if the stack is cut there. */
static bool meet(struct col_reading *reading, uint64_t frame)
{
    const struct col_question *question = &reading->question;
    struct col_met *met = &reading->met;
    bool is_cut = (met->any & COL_DEMAND_UPTO) != 0;
    met->last = question->demands[frame];
    met->has_frames = true;
    if (question->roles)
        met->category = category_after(met->category, question->roles[frame]);
    met->any |= met->last & ~COL_DEMAND_UPTO;
    if ((question->demanded & COL_DEMAND_FROM) && !(met->any & COL_DEMAND_FROM))
        return false;
    met->any |= met->last;
    return !is_cut;
}

static bool push_frame(struct col_reading *reading, uint64_t frame)
{
    if (reading->question.demands && !meet(reading, frame))
        return true;
    return col_follow_push(&reading->follow, reading->question.groups[frame]);
}

/* Whether the path is one that the question is about. */
static bool is_demanded(const struct col_reading *reading)
{
    const struct col_question *question = &reading->question;
    if (reading->purpose != COL_TO_FOLLOW || !question->demands)
        return true;
    if ((reading->met.any & COL_DEMAND_NEVER) || (question->roles && reading->met.category != question->category))
        return false;
    uint32_t met = (reading->met.any & ~COL_DEMAND_LAST) | (reading->met.last & COL_DEMAND_LAST);
    return (question->demanded & ~(uint64_t)met) == 0;
}

static bool push_meaning(struct col_reading *reading, uint32_t number, bool is_leaf)
{
    const struct col_expansion *expansion = &reading->expansion;
    uint32_t entry = col_meanings_entry(reading, number, is_leaf);
    if (entry == COL_ANALYSIS_NONE)
        return true;
    uint32_t meaning = col_meanings_at(expansion, entry, reading->now_ns);
    for (uint32_t i = expansion->first_frame[meaning]; i < expansion->first_frame[meaning + 1]; i++)
        if (!push_frame(reading, expansion->frames[i]))
            return false;
    return true;
}

static inline bool push_address(struct col_reading *reading, uint32_t number, const uint32_t *groups, bool is_leaf)
{
    uint32_t group = groups[number];
    return group != COL_ANALYSIS_NONE ? col_follow_push(&reading->follow, group)
                                      : push_meaning(reading, number, is_leaf);
}

/* Brings the path of groups to the callers of the walk's path. */
static bool sync_callers(struct col_reading *reading)
{
    const struct col_walk *walk = &reading->walk;
    uint32_t callers = walk->depth > 0 ? walk->depth - 1 : 0;
    uint32_t valid = reading->synced < callers ? reading->synced : callers;
    if (valid < reading->pushed) {
        col_follow_pop(&reading->follow, reading->marks[valid]);
        if (reading->question.demands)
            reading->met = reading->met_before[valid];
    }
    for (uint32_t i = valid; i < callers; i++) {
        reading->marks[i] = reading->follow.depth;
        if (reading->question.demands)
            reading->met_before[i] = reading->met;
        if (!push_address(reading, walk->path[i], reading->caller_groups, false))
            return false;
    }
    reading->synced = reading->pushed = callers;
    return true;
}

/* Whether a stack reaches the start of its thread, or of what the question is about. */
static bool is_finished(const struct col_reading *reading, uint32_t end)
{
    const struct col_question *question = &reading->question;
    return end == COL_END_COMPLETE || end == COL_END_GUESSED || end == COL_END_NOT_SAMPLED ||
           (question->demands && (question->demanded & COL_DEMAND_FROM));
}

/* The samples of a stack that the question is about count where the path ends. */
static bool count_path(struct col_reading *reading, uint32_t end, const uint64_t *figures)
{
    struct col_follow *follow = &reading->follow;
    bool is_whole = is_finished(reading, end);
    if (reading->question.want & COL_WANT_ROWS)
        col_rows_note(&reading->rows, follow->nodes[follow->depth - 1], is_whole);
    return col_follow_count(follow, figures, is_whole);
}

/* Samples whose stack is lost, or has nothing that shows. */
static bool count_empty(struct col_reading *reading, uint32_t end, const uint64_t *figures)
{
    uint32_t shown_end = end == COL_END_NOT_SAMPLED ? end : COL_END_NO_UNWIND_INFO;
    uint32_t depth = reading->follow.depth;
    reading->empty_counts[end] += figures[reading->measure.columns];
    uint64_t frame = reading->expansion.empty_frames[end];
    bool has_frame = reading->purpose == COL_TO_FOLLOW && frame != COL_ANALYSIS_NONE;
    reading->met = (struct col_met){0};
    bool is_counted = !has_frame || push_frame(reading, frame);
    if (is_counted && is_demanded(reading)) {
        col_cells_add(&reading->cells, reading->measure.columns, shown_end, figures);
        is_counted = !has_frame || count_path(reading, shown_end, figures);
    }
    if (has_frame)
        col_follow_pop(&reading->follow, depth);
    reading->met = (struct col_met){0};
    return is_counted;
}

static bool follow_stack(struct col_reading *reading, const uint64_t *figures)
{
    const struct col_walk *walk = &reading->walk;
    if (!sync_callers(reading))
        return false;
    uint32_t depth = reading->follow.depth;
    struct col_met met = reading->met;
    if (walk->depth > 0 && !push_address(reading, walk->path[walk->depth - 1], reading->leaf_groups, true))
        return false;
    if (reading->follow.depth == 0 && !reading->met.has_frames)
        return count_empty(reading, walk->end, figures);
    bool is_counted = true;
    if (is_demanded(reading)) {
        col_cells_add(&reading->cells, reading->measure.columns, walk->end, figures);
        is_counted = count_path(reading, walk->end, figures);
    }
    col_follow_pop(&reading->follow, depth);
    reading->met = met;
    return is_counted;
}

static bool collect_stack(struct col_reading *reading, const uint64_t *figures)
{
    bool is_empty;
    if (!col_collect_visit(reading, &is_empty))
        return false;
    if (is_empty)
        return count_empty(reading, reading->walk.end, figures);
    col_cells_add(&reading->cells, reading->measure.columns, reading->walk.end, figures);
    return true;
}

static void mark_stack(struct col_reading *reading)
{
    const struct col_walk *walk = &reading->walk;
    for (uint32_t i = 0; i < walk->depth; i++) {
        uint32_t entry = col_meanings_entry(reading, walk->path[i], i + 1 == walk->depth);
        if (entry != COL_ANALYSIS_NONE)
            reading->is_met[col_meanings_at(&reading->expansion, entry, reading->now_ns)] = 1;
    }
}

static bool visit_stack(struct col_reading *reading, const uint64_t *figures)
{
    if (reading->purpose == COL_TO_FOLLOW)
        return follow_stack(reading, figures);
    if (reading->purpose == COL_TO_COLLECT)
        return collect_stack(reading, figures);
    mark_stack(reading);
    return true;
}

/* The stacks of a record that samples have; those that cannot be decoded are lost. */
static int visit_stacks(struct col_reading *reading, const struct col_sample_record *record, uint64_t *rows)
{
    struct col_walk *walk = &reading->walk;
    size_t width = (size_t)reading->measure.columns + 1;
    uint64_t stack = 0;
    reading->synced = reading->pushed = 0;
    reading->met = (struct col_met){0};
    if (!col_walk_begin(walk, &reading->log->addresses, record->fields.definitions.bytes,
                        record->fields.definitions.count))
        return -ENOMEM;
    for (; stack < record->fields.stack_count && col_walk_next(walk); stack++) {
        if (walk->kept < reading->synced)
            reading->synced = walk->kept;
        if (reading->purpose != COL_TO_COLLECT && reading->log->addresses.count != reading->log->entry_numbers)
            return -EIO;
        const uint64_t *figures = rows + stack * width;
        reading->rows.stack = stack;
        if (figures[reading->measure.columns] > 0 && !visit_stack(reading, figures))
            return -ENOMEM;
    }
    if (walk->is_out_of_memory)
        return -ENOMEM;
    col_follow_pop(&reading->follow, 0);
    if (reading->purpose == COL_TO_MARK) /* what is marked is not counted */
        return 0;
    for (; stack <= record->fields.stack_count; stack++) {
        reading->rows.stack = stack;
        if (rows[stack * width + reading->measure.columns] > 0 &&
            !count_empty(reading, COL_END_NO_UNWIND_INFO, rows + stack * width))
            return -ENOMEM;
    }
    return 0;
}

/* The samples of a record from start_ns up to end_ns. */
static int read_span(struct col_reading *reading, const struct col_sample_record *record,
                     const struct col_log_record *where, uint64_t start_ns, uint64_t end_ns)
{
    bool has_rows = reading->purpose == COL_TO_FOLLOW && (reading->question.want & COL_WANT_ROWS);
    size_t figures = (size_t)(record->fields.stack_count + 1) * (reading->measure.columns + 1);
    if (!COL_ARRAY_RESERVE(reading->weights, reading->weight_capacity, figures))
        return -ENOMEM;
    memset(reading->weights, 0, figures * sizeof *reading->weights);
    col_sample_record_weigh(record, start_ns, end_ns, reading->weights);
    if (has_rows && !col_rows_begin(&reading->rows, record))
        return -ENOMEM;
    int error = visit_stacks(reading, record, reading->weights);
    if (error == 0 && has_rows && !col_rows_take(&reading->rows, record, where->thread, start_ns, end_ns))
        return -ENOMEM;
    return error;
}

/* The samples of a record that are in a span. */
static int read_phase(struct col_reading *reading, const struct col_sample_record *record,
                      const struct col_log_record *where, const struct col_span *span)
{
    if (span->phase != reading->phase &&
        !col_cells_settle(&reading->cells, &reading->measure, where->thread, reading->phase))
        return -ENOMEM;
    reading->phase = span->phase;
    return read_span(reading, record, where, span->start_ns, span->end_ns);
}

/* The samples of a record from start_ns up to end_ns that the question is about. */
static int read_spans(struct col_reading *reading, const struct col_sample_record *record,
                      const struct col_log_record *where, uint64_t start_ns, uint64_t end_ns)
{
    const struct col_question *question = &reading->question;
    if (reading->purpose != COL_TO_FOLLOW || !question->spans)
        return read_span(reading, record, where, start_ns, end_ns);
    uint64_t last_ns = col_sample_record_last_ns(record);
    uint32_t end = question->first_span[where->thread + 1];
    int error = 0;
    for (uint32_t i = question->first_span[where->thread]; error == 0 && i < end; i++) {
        struct col_span span = question->spans[i];
        bool is_before = span.end_ns <= record->time_ns && span.end_ns != UINT64_MAX;
        if (is_before || span.start_ns > last_ns)
            continue;
        span.start_ns = span.start_ns > start_ns ? span.start_ns : start_ns;
        span.end_ns = span.end_ns < end_ns ? span.end_ns : end_ns;
        if (span.start_ns < span.end_ns)
            error = read_phase(reading, record, where, &span);
    }
    return error;
}

/* A record in whose time addresses change their meaning is read once for each span between. */
static int read_changing(struct col_reading *reading, const struct col_sample_record *record,
                         const struct col_log_record *where)
{
    int error = col_meanings_find_turns(reading, record, col_sample_record_last_ns(record));
    uint64_t start_ns = 0;
    reading->now_ns = record->time_ns;
    for (size_t turn = 0; error == 0 && turn < reading->turn_count; turn++) {
        error = read_spans(reading, record, where, start_ns, reading->turns[turn]);
        start_ns = reading->now_ns = reading->turns[turn];
    }
    return error ? error : read_spans(reading, record, where, start_ns, UINT64_MAX);
}

static int read_record(struct col_reading *reading, const struct col_log_record *where, int fd)
{
    struct col_sample_record record;
    const uint8_t *bytes = col_log_record_bytes(reading->log, where, fd, &reading->buffer, &reading->buffer_capacity);
    if (!bytes || !col_sample_record_read(&record, bytes, where->bytes))
        return -EIO;
    record.time_ns += reading->log->shift_ns;
    col_sample_record_lay_out(&record, &reading->log->layouts[where->layout], reading->measure.columns);
    if (!reading->log->is_changing)
        return read_spans(reading, &record, where, 0, UINT64_MAX);
    return read_changing(reading, &record, where);
}

static bool settle(struct col_reading *reading, uint32_t thread)
{
    if (reading->purpose == COL_TO_FOLLOW)
        col_follow_settle(&reading->follow, &reading->measure, reading->question.scales + COL_SCALES * (size_t)thread);
    return reading->purpose == COL_TO_MARK ||
           col_cells_settle(&reading->cells, &reading->measure, thread, reading->phase);
}

static bool begin_log(struct col_reading *reading)
{
    if (reading->seen_capacity > 0)
        memset(reading->seen, 0, reading->seen_capacity * sizeof *reading->seen);
    switch (reading->purpose) {
    case COL_TO_COLLECT:
        return col_collect_begin(reading);
    case COL_TO_FOLLOW:
        return col_meanings_fill_groups(reading);
    case COL_TO_MARK:
        break;
    }
    return true;
}

static bool is_wanted(const struct col_reading *reading, uint32_t thread)
{
    const struct col_question *question = &reading->question;
    return reading->purpose != COL_TO_FOLLOW ||
           (thread < question->thread_count &&
            (!question->spans || question->first_span[thread] < question->first_span[thread + 1]));
}

int col_reading_log(struct col_reading *reading, struct col_log *log, int fd, enum col_purpose purpose)
{
    reading->log = log;
    reading->purpose = purpose;
    reading->rows.count = 0;
    if (!begin_log(reading))
        return -ENOMEM;
    for (size_t i = 0; i < log->order_count; i++) {
        const struct col_log_record *record = &log->records[log->order[i]];
        if (!is_wanted(reading, record->thread))
            continue;
        int error = read_record(reading, record, fd);
        if (error)
            return error;
        bool is_last = i + 1 == log->order_count || log->records[log->order[i + 1]].thread != record->thread;
        if (is_last && !settle(reading, record->thread))
            return -ENOMEM;
    }
    return purpose == COL_TO_COLLECT ? col_collect_finish(reading) : 0;
}

void col_reading_free(struct col_reading *reading)
{
    free(reading->walk.path);
    free(reading->marks);
    free(reading->met_before);
    free(reading->weights);
    free(reading->buffer);
    free(reading->flags);
    free(reading->caller_groups);
    free(reading->leaf_groups);
    free(reading->seen);
    free(reading->turns);
    free(reading->cells.rows);
    col_rows_free(&reading->rows);
    col_entries_free(&reading->entries);
    col_follow_free(&reading->follow);
}
