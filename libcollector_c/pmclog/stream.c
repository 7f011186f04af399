/* stream.c -- the bytes of a log, from a descriptor or from feeding, through one bounded buffer */
#define _GNU_SOURCE /* SEEK_DATA */

#include "stream.h"

#include "experiment/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_CAPACITY ((size_t)64 << 10)

/*
 * Where the frames of a log end while it is being written (docs/format.md, Open frames); beyond all files if it was cut to its length, or is no log.
 */
static off_t find_end(int fd)
{
    uint8_t tail[COL_OPEN_TAIL_BYTES], head[sizeof COL_OPEN_MAGIC - 1];
    static const uint8_t zeros[COL_OPEN_TAIL_BYTES];
    struct stat status;
    const off_t none = INT64_MAX;
    if (fstat(fd, &status) != 0 || status.st_size < (off_t)(2 * COL_OPEN_SLOT_BYTES) ||
        status.st_size % COL_OPEN_SLOT_BYTES != 0)
        return none;
    off_t end = status.st_size - (off_t)COL_OPEN_AREA_BYTES((uint64_t)status.st_size);
    if (pread(fd, tail, sizeof tail, status.st_size - (off_t)sizeof tail) != (ssize_t)sizeof tail ||
        memcmp(tail, zeros, sizeof tail) != 0)
        return none;
    bool has_head = pread(fd, head, sizeof head, end) == (ssize_t)sizeof head;
    return has_head && (memcmp(head, COL_OPEN_MAGIC, sizeof head) == 0 || memcmp(head, zeros, sizeof head) == 0) ? end
                                                                                                                 : none;
}

int col_stream_open(struct col_stream *stream, int fd)
{
    *stream = (struct col_stream){.fd = fd, .capacity = FIRST_CAPACITY};
    if (fd != PMCLOG_FD_NONE) {
        struct stat status;
        if (fstat(fd, &status) != 0)
            return -errno;
        if (S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode) || S_ISCHR(status.st_mode))
            return S_ISDIR(status.st_mode) ? -EISDIR
                                           : -EINVAL; /* /dev/zero never ends, and never says anything either */
        stream->is_file = S_ISREG(status.st_mode);
        if (stream->is_file)
            stream->origin = lseek(fd, 0, SEEK_CUR);
        stream->end = stream->is_file ? find_end(fd) : INT64_MAX;
    }
    stream->buffer = calloc(1, stream->capacity + COL_STREAM_SLACK_BYTES);
    return stream->buffer ? 0 : -ENOMEM;
}

void col_stream_close(struct col_stream *stream)
{
    free(stream->buffer);
    stream->buffer = NULL;
}

static bool make_room(struct col_stream *stream, size_t count)
{
    if (stream->head + count <= stream->capacity && stream->tail < stream->capacity)
        return true;
    memmove(stream->buffer, stream->buffer + stream->head, col_stream_count(stream));
    stream->tail -= stream->head;
    stream->head = 0;
    if (count <= stream->capacity)
        return true;
    size_t capacity = count + count / 2;
    uint8_t *larger = realloc(stream->buffer, capacity + COL_STREAM_SLACK_BYTES);
    if (!larger)
        return false;
    memset(larger + stream->capacity, 0, capacity + COL_STREAM_SLACK_BYTES - stream->capacity);
    stream->buffer = larger;
    stream->capacity = capacity;
    return true;
}

static ssize_t take_fed(struct col_stream *stream, uint8_t *to, size_t room)
{
    size_t count = stream->fed_bytes < room ? stream->fed_bytes : room;
    if (count > 0)
        memcpy(to, stream->fed, count);
    stream->fed += count;
    stream->fed_bytes -= count;
    if (count == 0) {
        errno = EAGAIN;
        return -1;
    }
    return (ssize_t)count;
}

static ssize_t take_from_file(struct col_stream *stream, uint8_t *to, size_t room)
{
    off_t at = stream->origin + (off_t)(stream->offset + col_stream_count(stream));
    off_t left = stream->end > at ? stream->end - at : 0;
    return pread(stream->fd, to, (off_t)room < left ? room : (size_t)left, at);
}

static ssize_t take(struct col_stream *stream)
{
    uint8_t *to = stream->buffer + stream->tail;
    size_t room = stream->capacity - stream->tail;
    ssize_t taken;
    if (stream->fd == PMCLOG_FD_NONE)
        return take_fed(stream, to, room);
    do
        taken = stream->is_file ? take_from_file(stream, to, room) : read(stream->fd, to, room);
    while (taken < 0 && errno == EINTR);
    return taken;
}

enum pmclog_state col_stream_want(struct col_stream *stream, size_t count)
{
    while (col_stream_count(stream) < count) {
        if (!make_room(stream, count)) {
            errno = ENOMEM;
            return PMCLOG_ERROR;
        }
        ssize_t taken = take(stream);
        if (taken < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? PMCLOG_REQUIRE_DATA : PMCLOG_ERROR;
        if (taken == 0)
            return PMCLOG_EOF;
        stream->tail += (size_t)taken;
    }
    return PMCLOG_OK;
}

void col_stream_skip(struct col_stream *stream, size_t count)
{
    stream->head += count;
    stream->offset += count;
    if (stream->head == stream->tail)
        stream->head = stream->tail = 0;
}

void col_stream_leap(struct col_stream *stream)
{
    col_stream_skip(stream, col_stream_count(stream));
    if (!stream->is_file)
        return;
    /* Others may share the descriptor's own position, so it is put back. */
    off_t own = lseek(stream->fd, 0, SEEK_CUR);
    off_t here = stream->origin + (off_t)stream->offset;
    off_t data = lseek(stream->fd, here, SEEK_DATA);
    stream->end = find_end(stream->fd);
    if ((data < 0 && errno == ENXIO) || data >= stream->end)
        data = stream->end < INT64_MAX ? stream->end : lseek(stream->fd, 0, SEEK_END);
    lseek(stream->fd, own, SEEK_SET);
    if (data > here)
        stream->offset += (uint64_t)(data - here);
}

static size_t zeros_at(const uint8_t *bytes, size_t count)
{
    size_t zeros = 0;
    for (uint64_t word; zeros + sizeof word <= count; zeros += sizeof word) {
        memcpy(&word, bytes + zeros, sizeof word);
        if (word != 0)
            break;
    }
    while (zeros < count && bytes[zeros] == 0)
        zeros++;
    return zeros;
}

enum pmclog_state col_stream_skip_zeros(struct col_stream *stream)
{
    for (;;) {
        enum pmclog_state state = col_stream_want(stream, 1);
        if (state != PMCLOG_OK)
            return state;
        size_t zeros = zeros_at(col_stream_bytes(stream), col_stream_count(stream));
        if (zeros < col_stream_count(stream)) {
            col_stream_skip(stream, zeros);
            return PMCLOG_OK;
        }
        col_stream_leap(stream);
    }
}

void col_stream_return(struct col_stream *stream, uint64_t offset)
{
    if (!stream->is_file)
        return;
    stream->offset = offset;
    stream->head = stream->tail = 0;
    stream->end = find_end(stream->fd);
}
