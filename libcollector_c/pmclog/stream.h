/* stream.h -- the bytes of a log, from a descriptor or from feeding, through one bounded buffer */
#ifndef COL_PMCLOG_STREAM_H
#define COL_PMCLOG_STREAM_H

#include "pmclog.h"

#include <stdbool.h>

/* So many bytes after the last one may be read, though not used: columns are loaded eight bytes at a time. */
#define COL_STREAM_SLACK_BYTES 8

/* Offsets count from where the descriptor stood when it was opened. The buffer is never larger than one frame and a half. */
struct col_stream {
    int fd;          /* PMCLOG_FD_NONE: fed */
    bool is_file;    /* can be read again at any place */
    off_t origin;    /* of offset 0, in the file */
    off_t end;       /* where open frames begin, in a file that is being written; beyond all files if there are none */
    uint64_t offset; /* of the first unread byte */
    uint8_t *buffer;
    size_t head; /* first unread byte */
    size_t tail; /* one past the last */
    size_t capacity;
    const uint8_t *fed; /* the caller's bytes, not yet in the buffer */
    size_t fed_bytes;
};

int col_stream_open(struct col_stream *stream, int fd); /* 0 or -errno */
void col_stream_close(struct col_stream *stream);

static inline const uint8_t *col_stream_bytes(const struct col_stream *stream)
{
    return stream->buffer + stream->head;
}

static inline size_t col_stream_count(const struct col_stream *stream)
{
    return stream->tail - stream->head;
}

/* Sees to it that count bytes are there. A fed stream never ends, it requires data. May move the buffer. */
enum pmclog_state col_stream_want(struct col_stream *stream, size_t count);

/* Passes over count bytes that are there. */
void col_stream_skip(struct col_stream *stream, size_t count);

/* Passes over zeros, whole holes of a sparse file at once, up to the first other byte. */
enum pmclog_state col_stream_skip_zeros(struct col_stream *stream);

/* The buffer is all zeros: passes over it and over the hole it may be the start of. */
void col_stream_leap(struct col_stream *stream);

/* Goes back (or forth) to an offset of a file and forgets what was buffered: at its end a file may still change. Nothing for other streams. */
void col_stream_return(struct col_stream *stream, uint64_t offset);

#endif
