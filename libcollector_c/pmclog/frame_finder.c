/* frame_finder.c -- from one sound frame to the next, with an account of everything in between */
#include "frame_finder.h"

#include "checksum.h"
#include "experiment/format.h"

#include <endian.h>
#include <string.h>

/*
 *  0    1        5   6         10        14         18          22
 *  C9 | length | 50 | C1 cev | sequence | head crc | body crc | payload ...
 */
enum { LENGTH_AT = 1, TYPE_AT = 5, SYNC_AT = 6, SEQUENCE_AT = 10, HEAD_CRC_AT = 14, BODY_CRC_AT = 18, SYNC_BYTES = 4 };
enum { COUNTED_HEADER_BYTES = COL_FRAME_HEADER_BYTES - SYNC_AT }; /* of the header, how much `length` counts */

enum soundness { BAD, SHORT, SOUND };

static uint32_t number_at(const uint8_t *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return be32toh(number);
}

static bool is_length(uint32_t length)
{
    return length >= COUNTED_HEADER_BYTES && length <= COL_FRAME_MAX_BYTES;
}

/* Whether count bytes, fewer than a header, are how a header may begin. */
static bool may_be_header(const uint8_t *bytes, size_t count)
{
    if (count > SYNC_AT) {
        size_t sync_bytes = count - SYNC_AT < SYNC_BYTES ? count - SYNC_AT : SYNC_BYTES;
        if (memcmp(bytes + SYNC_AT, COL_FRAME_SYNC, sync_bytes) != 0)
            return false;
    }
    return (count <= 0 || bytes[0] == COL_FRAME_EXT_CODE) &&
           (count < TYPE_AT || is_length(number_at(bytes + LENGTH_AT))) &&
           (count <= TYPE_AT || bytes[TYPE_AT] == COL_FRAME_EXT_TYPE) &&
           (count < BODY_CRC_AT || col_checksum_of(bytes, HEAD_CRC_AT) == number_at(bytes + HEAD_CRC_AT));
}

/* Headers that claim overlapping payloads would have the same bytes checksummed again and again (docs/format.md, Reading a damaged log). */
static bool is_affordable(const struct col_frame_finder *finder, uint64_t offset, size_t payload_bytes)
{
    uint64_t passed = finder->is_lost ? offset - finder->lost_from : 0;
    return finder->wasted_bytes + payload_bytes <= COL_FRAME_DOUBT_BYTES + COL_FRAME_DOUBT_RATIO * passed;
}

/* What begins at bytes, which are at `offset` of the log; for SHORT, *needed says how many bytes it takes to know more. For SOUND, *needed are its bytes. */
static enum soundness judge(struct col_frame_finder *finder, const uint8_t *bytes, size_t count, uint64_t offset,
                            size_t *needed)
{
    *needed = COL_FRAME_HEADER_BYTES;
    if (count < COL_FRAME_HEADER_BYTES)
        return may_be_header(bytes, count) ? SHORT : BAD;
    if (!may_be_header(bytes, COL_FRAME_HEADER_BYTES) || number_at(bytes + SEQUENCE_AT) < finder->expected)
        return BAD;
    *needed = SYNC_AT + (size_t)number_at(bytes + LENGTH_AT);
    size_t payload_bytes = *needed - COL_FRAME_HEADER_BYTES;
    if (!is_affordable(finder, offset, payload_bytes))
        return BAD;
    if (count < *needed)
        return SHORT;
    if (col_checksum_of(bytes + COL_FRAME_HEADER_BYTES, payload_bytes) == number_at(bytes + BODY_CRC_AT))
        return SOUND;
    finder->wasted_bytes += payload_bytes;
    return BAD;
}

/* The first place from `from` on where a frame may begin: six bytes before a sync marker, or so near the end that none can be seen yet. */
static size_t next_candidate(const uint8_t *bytes, size_t count, size_t from)
{
    size_t at = from + SYNC_AT;
    while (at < count) {
        const uint8_t *first = memchr(bytes + at, COL_FRAME_SYNC[0] & 0xFF, count - at);
        if (!first)
            break;
        at = (size_t)(first - bytes);
        size_t visible = count - at < SYNC_BYTES ? count - at : SYNC_BYTES;
        if (memcmp(first, COL_FRAME_SYNC, visible) == 0)
            return at - SYNC_AT;
        at++;
    }
    return count > from + SYNC_AT ? count - SYNC_AT : from;
}

static void lose(struct col_frame_finder *finder, struct col_stream *stream, size_t count)
{
    if (!finder->is_lost) {
        finder->is_lost = true;
        finder->lost_from = finder->lost_until = stream->offset;
    }
    const uint8_t *bytes = col_stream_bytes(stream);
    size_t used = count;
    while (used > 0 && bytes[used - 1] == 0)
        used--;
    if (used > 0)
        finder->lost_until = stream->offset + used;
    if (used == 0 && count == col_stream_count(stream))
        col_stream_leap(stream);
    else
        col_stream_skip(stream, count);
}

static void lose_to_next_candidate(struct col_frame_finder *finder, struct col_stream *stream)
{
    const uint8_t *bytes = col_stream_bytes(stream);
    size_t count = col_stream_count(stream);
    size_t candidate = next_candidate(bytes, count, 1);
    /* The last bytes of a run of zeros begin no frame either: take the run whole. */
    if (candidate < count && candidate + SYNC_AT >= count && bytes[candidate] == 0)
        for (candidate++; candidate < count && bytes[candidate] == 0;)
            candidate++;
    lose(finder, stream, candidate);
}

static void tell_damage(struct col_frame_finder *finder, uint64_t until, struct col_finding *found)
{
    *found = (struct col_finding){
        .what = COL_FOUND_DAMAGE, .offset = finder->lost_from, .lost_bytes = until - finder->lost_from};
    finder->is_lost = false;
    finder->wasted_bytes = 0;
    finder->settled = until;
}

/* The file ends inside what may be a frame. Bytes deleted from it would let it reach over sound frames: if one is there, go on with it. */
static bool find_inside(struct col_frame_finder *finder, struct col_stream *stream)
{
    const uint8_t *bytes = col_stream_bytes(stream);
    size_t count = col_stream_count(stream);
    size_t needed;
    for (size_t at = next_candidate(bytes, count, 1); at + COL_FRAME_HEADER_BYTES <= count;
         at = next_candidate(bytes, count, at + 1))
        if (judge(finder, bytes + at, count - at, stream->offset + at, &needed) == SOUND) {
            lose(finder, stream, at);
            return true;
        }
    return false;
}

/* Nothing more is there. PMCLOG_OK if something is to be told. Damage behind zeros is not, while a frame may be being written there. */
static enum pmclog_state end_here(struct col_frame_finder *finder, struct col_stream *stream, struct col_finding *found)
{
    size_t leftover = col_stream_count(stream);
    if (finder->is_lost && (finder->is_final || finder->lost_from == finder->settled)) {
        tell_damage(finder, leftover > 0 ? stream->offset : finder->lost_until, found);
        return PMCLOG_OK;
    }
    if (finder->is_final && leftover > 0) {
        *found = (struct col_finding){.what = COL_FOUND_TRUNCATED, .offset = stream->offset, .lost_bytes = leftover};
        col_stream_skip(stream, leftover);
        finder->settled = stream->offset;
        return PMCLOG_OK;
    }
    finder->leftover_bytes = finder->is_lost ? 0 : leftover;
    if (stream->is_file) {
        finder->is_lost = false;
        finder->wasted_bytes = 0;
    }
    col_stream_return(stream, finder->settled);
    return PMCLOG_EOF;
}

static void hand_out(struct col_frame_finder *finder, struct col_stream *stream, size_t frame_bytes,
                     struct col_finding *found)
{
    const uint8_t *bytes = col_stream_bytes(stream);
    uint32_t sequence = number_at(bytes + SEQUENCE_AT);
    if (sequence > finder->expected) {
        *found = (struct col_finding){.what = COL_FOUND_GAP,
                                      .offset = finder->good_end,
                                      .lost_bytes = stream->offset - finder->good_end,
                                      .lost_frames = sequence - finder->expected};
        finder->expected = sequence;
        return;
    }
    *found = (struct col_finding){.what = COL_FOUND_FRAME,
                                  .offset = stream->offset,
                                  .payload = bytes + COL_FRAME_HEADER_BYTES,
                                  .payload_bytes = frame_bytes - COL_FRAME_HEADER_BYTES};
    finder->expected = (uint64_t)sequence + 1;
    finder->settled = finder->good_end = stream->offset + frame_bytes;
    finder->held_bytes = frame_bytes;
}

static bool is_end(const struct col_frame_finder *finder, const struct col_stream *stream, enum pmclog_state state)
{
    return state == PMCLOG_EOF || (state == PMCLOG_REQUIRE_DATA && finder->is_final && stream->fd == PMCLOG_FD_NONE);
}

enum pmclog_state col_frame_finder_next(struct col_frame_finder *finder, struct col_stream *stream,
                                        struct col_finding *found)
{
    col_stream_skip(stream, finder->held_bytes);
    finder->held_bytes = 0;
    finder->leftover_bytes = 0;
    for (;;) {
        enum pmclog_state state = finder->is_lost ? PMCLOG_OK : col_stream_skip_zeros(stream);
        size_t needed;
        if (state == PMCLOG_OK)
            switch (judge(finder, col_stream_bytes(stream), col_stream_count(stream), stream->offset, &needed)) {
            case BAD:
                lose_to_next_candidate(finder, stream);
                continue;
            case SOUND:
                if (finder->is_lost)
                    tell_damage(finder, stream->offset, found);
                else
                    hand_out(finder, stream, needed, found);
                return PMCLOG_OK;
            case SHORT:
                state = col_stream_want(stream, needed);
                if (state == PMCLOG_OK || (is_end(finder, stream, state) && find_inside(finder, stream)))
                    continue;
            }
        return is_end(finder, stream, state) ? end_here(finder, stream, found) : state;
    }
}
