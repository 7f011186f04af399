/* parser.h -- what one parser is: bytes become frames, frames records, records events */
#ifndef COL_PMCLOG_PARSER_H
#define COL_PMCLOG_PARSER_H

#include "frame_finder.h"
#include "open_records.h"
#include "record.h"

enum { COL_PARSER_SENTENCE_BYTES = 160 };

/* bytes (stream) -> sound frames (finder) -> records (payload) -> events, of which samples are many to a record. */
struct col_parser {
    struct col_samples samples;
    struct col_readings readings;
    struct pmclog_totals totals;
    struct timespec time; /* of the last record */
    uint64_t start_ticks; /* of the process, as INITIALIZE says */
    struct col_stream stream;
    struct col_frame_finder finder;
    struct col_cursor payload; /* the records left of a frame */
    const uint8_t *payload_start;
    uint64_t payload_offset;
    struct col_record_texts texts;
    struct col_source_table sources;
    struct col_open_records open;
    uint8_t *open_columns; /* of the rows that `samples` are */
    bool is_writer_gone;
    bool is_open_read;    /* what the open frames hold is in `open`, and is handed out, or was */
    bool is_open_payload; /* `payload` is a record of them */
    bool is_strict;
    uint64_t told_unknown_kinds;
    int final_errno; /* an error that stays */
    char sentence[COL_PARSER_SENTENCE_BYTES];
};

/* NULL with errno, as pmclog_open. */
struct col_parser *col_parser_open(int fd);
void col_parser_close(struct col_parser *parser);

/* Up to the next event, or (not *is_event) the next samples, of the frames. */
enum pmclog_state col_parser_advance(struct col_parser *parser, struct pmclog_ev *ev, bool *is_event);

/* PMCLOG_ERROR with a sentence for errno; the call may be repeated. */
enum pmclog_state col_parser_fail_for_now(struct col_parser *parser);

/* What the record of samples just made ready is known by; before the first of them is handed out. */
static inline struct col_record_name col_parser_samples_name(const struct col_parser *parser)
{
    const struct col_samples *samples = &parser->samples;
    return (struct col_record_name){samples->time_ns, PMCLOG_TYPE_PCSAMPLE, samples->thread, samples->source};
}

#endif
