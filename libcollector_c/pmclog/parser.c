/* parser.c -- what one parser is and how its parts follow one another, up to the end of the frames */
#include "parser.h"

#include "experiment/format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct col_parser *col_parser_open(int fd)
{
    struct col_parser *parser = calloc(1, sizeof *parser);
    if (!parser)
        return NULL;
    int error = col_stream_open(&parser->stream, fd);
    if (error) {
        free(parser);
        errno = -error;
        return NULL;
    }
    parser->samples.pid = -1;
    return parser;
}

void col_parser_close(struct col_parser *parser)
{
    if (!parser)
        return;
    col_stream_close(&parser->stream);
    col_stacks_free(&parser->samples.stacks);
    col_record_free(&parser->texts);
    col_source_table_free(&parser->sources);
    col_open_records_free(&parser->open);
    free(parser->open_columns);
    free(parser);
}

static enum pmclog_state fail_for_good(struct col_parser *parser, int error)
{
    parser->final_errno = error;
    errno = error;
    return PMCLOG_ERROR;
}

/* What the log itself does not say: in *ev, or as an error in strict mode. UNKNOWN_KIND and TRUNCATED are no damage. */
static enum pmclog_state notify(struct col_parser *parser, enum pmclog_drop_cause cause, uint64_t count,
                                uint64_t offset, uint64_t length, struct pmclog_ev *ev)
{
    ev->pl_offset = (off_t)offset;
    ev->pl_ts = parser->time;
    ev->pl_type = PMCLOG_TYPE_DROPNOTIFY;
    ev->pl_tid = 0;
    ev->pl_u.pl_d =
        (struct pmclog_ev_dropnotify){.pl_cause = cause, .pl_count = count, .pl_offset = offset, .pl_length = length};
    return PMCLOG_OK;
}

static enum pmclog_state tell_damage(struct col_parser *parser, uint64_t offset, uint64_t length, struct pmclog_ev *ev)
{
    parser->totals.pl_damaged_bytes += length;
    parser->totals.pl_damages++;
    if (!parser->is_strict)
        return notify(parser, PMCLOG_DROP_DAMAGE, parser->totals.pl_damages, offset, length, ev);
    snprintf(parser->sentence, sizeof parser->sentence,
             "The log is damaged at byte %" PRIu64 ": %" PRIu64 " bytes cannot be read.", offset, length);
    return fail_for_good(parser, EBADMSG);
}

static enum pmclog_state tell_gap(struct col_parser *parser, const struct col_finding *gap, struct pmclog_ev *ev)
{
    parser->totals.pl_missing_frames += gap->lost_frames;
    if (!parser->is_strict)
        return notify(parser, PMCLOG_DROP_MISSING_FRAMES, parser->totals.pl_missing_frames, gap->offset,
                      gap->lost_bytes, ev);
    snprintf(parser->sentence, sizeof parser->sentence,
             "The log has a gap at byte %" PRIu64 ": %" PRIu64 " frames are missing.", gap->offset, gap->lost_frames);
    return fail_for_good(parser, EBADMSG);
}

static enum pmclog_state refuse_newer(struct col_parser *parser)
{
    snprintf(parser->sentence, sizeof parser->sentence,
             "The log was written by a newer collector: this library reads the format up to version %d.",
             COL_FORMAT_VERSION_MAJOR);
    return fail_for_good(parser, ENOTSUP);
}

enum pmclog_state col_parser_fail_for_now(struct col_parser *parser)
{
    int error = errno;
    snprintf(parser->sentence, sizeof parser->sentence, "The log cannot be read at byte %" PRIu64 ": %s.",
             parser->stream.offset, strerror(error));
    errno = error;
    return PMCLOG_ERROR;
}

static struct timespec time_from(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

/* False if memory is short. */
static bool note_event(struct col_parser *parser, const struct pmclog_ev *ev)
{
    parser->time = ev->pl_ts;
    if (ev->pl_type == PMCLOG_TYPE_INITIALIZE) {
        parser->samples.pid = ev->pl_u.pl_i.pl_pid;
        parser->start_ticks = ev->pl_u.pl_i.pl_start_ticks;
    }
    if (ev->pl_type == PMCLOG_TYPE_CLOSELOG)
        parser->totals.pl_is_closed = 1;
    return ev->pl_type != PMCLOG_TYPE_PMCALLOCATE || col_source_table_note(&parser->sources, &ev->pl_u.pl_a);
}

static enum pmclog_state run_out_of_memory(struct col_parser *parser, const uint8_t *record)
{
    parser->payload.at = record;
    errno = ENOMEM;
    return col_parser_fail_for_now(parser);
}

/* Nothing more is there: what has not been told yet, when nothing more will come. */
static enum pmclog_state reach_end(struct col_parser *parser, enum pmclog_state state, struct pmclog_ev *ev,
                                   bool *is_event)
{
    if (parser->finder.is_final && parser->totals.pl_unknown_kinds > parser->told_unknown_kinds) {
        parser->told_unknown_kinds = parser->totals.pl_unknown_kinds;
        *is_event = true;
        return notify(parser, PMCLOG_DROP_UNKNOWN_KIND, parser->told_unknown_kinds, parser->finder.settled, 0, ev);
    }
    return parser->stream.fd == PMCLOG_FD_NONE ? PMCLOG_REQUIRE_DATA : state;
}

/* The next frame with its records, or a loss as *ev (*is_event). */
static enum pmclog_state next_frame(struct col_parser *parser, struct pmclog_ev *ev, bool *is_event)
{
    struct col_finding found;
    enum pmclog_state state = col_frame_finder_next(&parser->finder, &parser->stream, &found);
    parser->totals.pl_leftover_bytes = parser->finder.leftover_bytes;
    *is_event = false;
    if (state == PMCLOG_ERROR)
        return col_parser_fail_for_now(parser);
    if (state != PMCLOG_OK)
        return reach_end(parser, state, ev, is_event);
    *is_event = found.what != COL_FOUND_FRAME;
    switch (found.what) {
    case COL_FOUND_FRAME:
        parser->totals.pl_frames++;
        parser->is_open_payload = false;
        parser->payload = (struct col_cursor){found.payload, found.payload + found.payload_bytes};
        parser->payload_start = found.payload;
        col_readings_forget(&parser->readings);
        parser->payload_offset = found.offset + COL_FRAME_HEADER_BYTES;
        break;
    case COL_FOUND_DAMAGE:
        return tell_damage(parser, found.offset, found.lost_bytes, ev);
    case COL_FOUND_GAP:
        return tell_gap(parser, &found, ev);
    case COL_FOUND_TRUNCATED:
        return notify(parser, PMCLOG_DROP_TRUNCATED, 1, found.offset, found.lost_bytes, ev);
    }
    return PMCLOG_OK;
}

/* Whether a record of the frames was handed out as one of the open frames: `collector record` moves these when the process has ended. */
static bool was_told(const struct col_parser *parser, const struct col_record_name *name)
{
    return parser->is_open_read && !parser->is_open_payload && col_open_records_find(&parser->open, name);
}

/* The next record as *ev (*is_event), or its samples made ready, or a record passed over. */
static enum pmclog_state next_record(struct col_parser *parser, struct pmclog_ev *ev, bool *is_event)
{
    const uint8_t *start = parser->payload.at;
    uint64_t offset = parser->payload_offset + (uint64_t)(start - parser->payload_start);
    struct col_record_name name;
    *is_event = false;
    switch (col_record_read(&parser->payload, &parser->texts, &parser->samples, &parser->readings, ev)) {
    case COL_RECORD_EVENT:
        if (!note_event(parser, ev))
            return run_out_of_memory(parser, start);
        name = col_open_records_name(ev);
        *is_event = !was_told(parser, &name);
        ev->pl_offset = (off_t)offset;
        break;
    case COL_RECORD_SAMPLES:
        name = col_parser_samples_name(parser);
        if (was_told(parser, &name)) {
            parser->samples.count = 0;
            break;
        }
        parser->samples.offset = (off_t)offset;
        parser->samples.declared = col_source_table_find(&parser->sources, parser->samples.source);
        parser->time = time_from(parser->samples.time_ns);
        parser->totals.pl_samples += parser->samples.count;
        break;
    case COL_RECORD_READINGS:
        parser->readings.event.pl_offset = (off_t)offset;
        (void)note_event(parser, ev); /* it is no definition */
        *is_event = col_readings_next(&parser->readings, ev);
        break;
    case COL_RECORD_UNKNOWN:
        parser->totals.pl_unknown_kinds++;
        break;
    case COL_RECORD_BROKEN:
        col_readings_forget(&parser->readings);
        *is_event = true;
        return tell_damage(parser, offset, (uint64_t)(parser->payload.at - start), ev);
    case COL_RECORD_NEWER:
        return refuse_newer(parser);
    case COL_RECORD_NO_MEMORY:
        return run_out_of_memory(parser, start);
    }
    return PMCLOG_OK;
}

enum pmclog_state col_parser_advance(struct col_parser *parser, struct pmclog_ev *ev, bool *is_event)
{
    enum pmclog_state state = PMCLOG_OK;
    *is_event = col_readings_next(&parser->readings, ev);
    parser->samples.next = parser->samples.count = 0;
    if (parser->final_errno)
        return fail_for_good(parser, parser->final_errno);
    while (state == PMCLOG_OK && !*is_event && parser->samples.count == 0)
        state = parser->payload.at < parser->payload.end ? next_record(parser, ev, is_event)
                                                         : next_frame(parser, ev, is_event);
    return state;
}
