/* recording_turns.h -- when a process was recorded: not while it was paused, nor outside the window of -t */
#ifndef COL_SAMPLE_RECORDING_TURNS_H
#define COL_SAMPLE_RECORDING_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* control/session.c changes it, in the order that its page shows. */
enum col_recording { COL_RECORDING_IDLE, COL_RECORDING_ON, COL_RECORDING_PAUSED, COL_RECORDING_CLOSED };

/*
 * The latest changes. `collector record --wall`, which watches from outside, finds those of a process in its memory by a pointer named collector_recording_turns, and reads a copy of
 * them. All but the window is atomic.
 */
enum { COL_RECORDING_TURNS = 256 };
#define COL_RECORDING_MAGIC UINT64_C(0x636f6c7475726e73)
struct col_recording_turns {
    uint64_t magic;
    uint64_t start_ns, end_ns;
    uint64_t state; /* enum col_recording */
    uint64_t count; /* of turns in all */
    uint64_t
        times[COL_RECORDING_TURNS]; /* CLOCK_MONOTONIC, ns; the lowest bit is set where recording is on from there */
};

/* It is in this state now. Safe in signal handlers, as all of this. */
void col_recording_turns_note(struct col_recording_turns *turns, enum col_recording state, uint64_t time_ns);

/* Whether the last change that was noted led to this state, as far as that is to be on or not. */
bool col_recording_turns_end_in(const struct col_recording_turns *turns, enum col_recording state);

/* For so long the process was recorded between two moments. Before the first change that is known it is taken to be on. */
uint64_t col_recording_turns_between(const struct col_recording_turns *turns, uint64_t from_ns, uint64_t to_ns);

#endif
