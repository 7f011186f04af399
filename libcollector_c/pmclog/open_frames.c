/* open_frames.c -- from the end of the frames to what the open frames hold beside them */
#include "open_frames.h"

#include "open_rows.h"
#include "writer_process.h"

#include <errno.h>
#include <stdlib.h>

static void note_written(struct col_parser *parser, const struct col_record_name *name)
{
    struct col_open_record *record = col_open_records_find(&parser->open, name);
    if (record)
        record->is_written = true;
}

/* Reads the whole log once more, for what was in open frames when its process died may have been written just before. */
static int find_written(struct col_parser *parser)
{
    struct pmclog_ev ev;
    bool is_event;
    struct col_parser *again = col_parser_open(parser->stream.fd);
    if (!again)
        return -errno;
    again->stream.origin = parser->stream.origin;
    again->finder.is_final = again->is_open_read = true;
    enum pmclog_state state;
    while ((state = col_parser_advance(again, &ev, &is_event)) == PMCLOG_OK) {
        struct col_record_name name = is_event ? col_open_records_name(&ev) : col_parser_samples_name(again);
        note_written(parser, &name);
    }
    int error = state == PMCLOG_ERROR && !again->final_errno ? -errno : 0;
    col_parser_close(again);
    return error;
}

/* True if there are no open frames to be read, or somebody still writes them. */
static bool is_open_to_be_left(struct col_parser *parser)
{
    const struct col_stream *stream = &parser->stream;
    return !stream->is_file || stream->end == INT64_MAX || (!parser->finder.is_final && !parser->is_writer_gone);
}

static int read_open(struct col_parser *parser)
{
    parser->is_open_read = true;
    int error = col_open_records_load(&parser->open, parser->stream.fd, parser->stream.end);
    if (error == 0 && parser->open.count > 0)
        error = find_written(parser);
    if (error == 0 && parser->open.count > 0)
        col_open_records_sort(&parser->open);
    if (error)
        col_open_records_free(&parser->open);
    parser->is_open_read = error == 0;
    return error;
}

static void tell_call(const struct col_parser *parser, const struct col_open_record *record, struct pmclog_ev *ev)
{
    ev->pl_ts.tv_sec = (time_t)(record->name.time_ns / 1000000000u);
    ev->pl_ts.tv_nsec = (long)(record->name.time_ns % 1000000000u);
    ev->pl_type = PMCLOG_TYPE_MESSAGE;
    ev->pl_tid = record->name.thread;
    ev->pl_offset = (off_t)parser->finder.settled;
    ev->pl_u.pl_message = (struct pmclog_ev_message){2, "the process ended during this call into a metric plugin", 1,
                                                     (const char *)record->bytes.at};
}

static enum pmclog_state take_rows(struct col_parser *parser, const struct col_open_record *record)
{
    struct col_samples *samples = &parser->samples;
    if (col_open_rows_take(record->bytes, record->value_count, &parser->open_columns, samples) != 0) {
        errno = ENOMEM;
        return col_parser_fail_for_now(parser);
    }
    samples->time_ns = record->name.time_ns;
    samples->fields.unit_ns = record->unit_ns;
    samples->thread = record->name.thread;
    samples->source = record->name.source;
    samples->declared = col_source_table_find(&parser->sources, samples->source);
    samples->offset = (off_t)parser->finder.settled;
    parser->totals.pl_samples += samples->count;
    return PMCLOG_OK;
}

/* The next record of the open frames that is not among the frames: as *ev, its samples made ready, or to be read as the payload. */
static enum pmclog_state next_open(struct col_parser *parser, const struct col_open_record *record,
                                   struct pmclog_ev *ev, bool *is_event)
{
    *is_event = record->form == COL_OPEN_VALUE || record->form == COL_OPEN_CALL;
    switch (record->form) {
    case COL_OPEN_VALUE:
        *ev = record->value;
        ev->pl_offset = (off_t)parser->finder.settled;
        break;
    case COL_OPEN_CALL:
        tell_call(parser, record, ev);
        break;
    case COL_OPEN_ROWS:
        return take_rows(parser, record);
    case COL_OPEN_ENCODED:
        parser->payload = record->bytes;
        parser->payload_start = record->bytes.at;
        parser->payload_offset = parser->finder.settled;
        parser->is_open_payload = true;
        break;
    }
    return PMCLOG_OK;
}

enum pmclog_state col_open_frames_go_on(struct col_parser *parser, enum pmclog_state end, struct pmclog_ev *ev,
                                        bool *is_event)
{
    struct col_open_records *open = &parser->open;
    if (parser->stream.is_file && parser->stream.end < INT64_MAX && !parser->is_writer_gone &&
        !parser->finder.is_final && col_writer_process_is_gone(parser->samples.pid, parser->start_ticks)) {
        parser->is_writer_gone = true;
        return PMCLOG_OK; /* what it wrote before it died is read first */
    }
    if (!parser->is_open_read) {
        if (is_open_to_be_left(parser))
            return end;
        int error = read_open(parser);
        if (error) {
            errno = -error;
            return col_parser_fail_for_now(parser);
        }
    }
    while (open->next < open->count && open->records[open->next].is_written)
        open->next++;
    if (open->next == open->count)
        return end;
    enum pmclog_state state = next_open(parser, &open->records[open->next], ev, is_event);
    open->next += state == PMCLOG_OK;
    return state;
}
