/* pmclog.c -- pmclog(3): open, read, feed, close */
#include "pmclog.h"

#include "open_frames.h"
#include "parser.h"

#include <errno.h>

void *pmclog_open(int fd)
{
    return col_parser_open(fd);
}

void pmclog_close(void *cookie)
{
    col_parser_close(cookie);
}

/* Up to the next event, or (not *is_event) the next samples: those of the frames, then those of the open frames. */
static enum pmclog_state advance(struct col_parser *parser, struct pmclog_ev *ev, bool *is_event)
{
    enum pmclog_state state;
    do {
        state = col_parser_advance(parser, ev, is_event);
        if ((state == PMCLOG_EOF || state == PMCLOG_REQUIRE_DATA) && parser->stream.fd != PMCLOG_FD_NONE)
            state = col_open_frames_go_on(parser, state, ev, is_event);
    } while (state == PMCLOG_OK && !*is_event && parser->samples.count == 0);
    return state;
}

int pmclog_read(void *cookie, struct pmclog_ev *ev)
{
    struct col_parser *parser = cookie;
    if (parser == NULL) {
        ev->pl_state = PMCLOG_ERROR;
        errno = EINVAL;
        return -1;
    }
    if (parser->samples.next == parser->samples.count) {
        bool is_event;
        ev->pl_state = advance(parser, ev, &is_event);
        if (ev->pl_state != PMCLOG_OK)
            return -1;
        if (is_event) {
            ev->pl_count = (size_t)++parser->totals.pl_events;
            return 0;
        }
    }
    col_samples_next(&parser->samples, ev);
    ev->pl_count = (size_t)++parser->totals.pl_events;
    return 0;
}

int pmclog_feed(void *cookie, char *data, int len)
{
    struct col_stream *stream = cookie != NULL ? &((struct col_parser *)cookie)->stream : NULL;
    if (stream == NULL || stream->fd != PMCLOG_FD_NONE || len < 0 || (data == NULL && len > 0)) {
        errno = EINVAL;
        return -1;
    }
    if (stream->fed_bytes > 0) {
        errno = EBUSY;
        return -1;
    }
    stream->fed = (const uint8_t *)data;
    stream->fed_bytes = (size_t)len;
    return 0;
}

void pmclog_finish(void *cookie)
{
    if (cookie != NULL)
        ((struct col_parser *)cookie)->finder.is_final = true;
}

void pmclog_set_strict(void *cookie, int on)
{
    if (cookie != NULL)
        ((struct col_parser *)cookie)->is_strict = on != 0;
}

const char *pmclog_error(void *cookie)
{
    return cookie != NULL ? ((struct col_parser *)cookie)->sentence
                          : "There is no parser: the log could not be opened.";
}

void pmclog_get_totals(void *cookie, struct pmclog_totals *totals)
{
    *totals = cookie != NULL ? ((struct col_parser *)cookie)->totals : (struct pmclog_totals){0};
}
