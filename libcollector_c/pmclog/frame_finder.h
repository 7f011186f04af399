/* frame_finder.h -- from one sound frame to the next, with an account of everything in between */
#ifndef COL_PMCLOG_FRAME_FINDER_H
#define COL_PMCLOG_FRAME_FINDER_H

#include "stream.h"

/* How many bytes may be checksummed in vain in one damage: so many, and so many for each byte of it. */
#define COL_FRAME_DOUBT_BYTES (UINT64_C(16) << 20)
#define COL_FRAME_DOUBT_RATIO UINT64_C(16)

/* The rules are those of docs/format.md, "Reading a damaged log". A sound frame is what they call a good one. */
struct col_frame_finder {
    uint64_t expected; /* sequence number of the next frame */
    uint64_t good_end; /* one past the last sound frame */
    uint64_t settled;  /* before here everything was handed out or told */
    size_t held_bytes; /* of the frame handed out last, still in the stream */
    bool is_final;     /* nothing more will come */
    bool is_lost;      /* in damage that began at lost_from */
    uint64_t lost_from;
    uint64_t lost_until;     /* one past the last byte of it that is not zero */
    uint64_t wasted_bytes;   /* checksummed since lost_from in payloads that were not sound */
    uint64_t leftover_bytes; /* of a truncated frame, at the end */
};

enum col_found { COL_FOUND_FRAME, COL_FOUND_DAMAGE, COL_FOUND_GAP, COL_FOUND_TRUNCATED };

struct col_finding {
    enum col_found what;
    uint64_t offset;        /* of the frame or of the loss */
    const uint8_t *payload; /* frame: valid until the next call */
    size_t payload_bytes;
    uint64_t lost_bytes;
    uint64_t lost_frames; /* gap */
};

/* PMCLOG_OK: *found is filled. Any other state is passed on from the stream, with errno. */
enum pmclog_state col_frame_finder_next(struct col_frame_finder *finder, struct col_stream *stream,
                                        struct col_finding *found);

#endif
