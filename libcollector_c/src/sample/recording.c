/* recording.c -- whether what happens now is recorded */
#include "sample/recording.h"

#include "base/clock.h"

struct col_recording_turns col_recording_own_turns = {.magic = COL_RECORDING_MAGIC, .end_ns = UINT64_MAX};
static struct col_recording_turns *const self = &col_recording_own_turns;

enum col_recording col_recording_now(void)
{
    return (enum col_recording)__atomic_load_n(&self->state, __ATOMIC_ACQUIRE);
}

/* Of two threads that change it at once, the earlier may note that last: then it notes what came of both. */
static void note(enum col_recording state)
{
    do {
        col_recording_turns_note(self, state, col_clock_now());
        state = col_recording_now();
    } while (!col_recording_turns_end_in(self, state));
}

bool col_recording_change(enum col_recording from, enum col_recording to)
{
    uint64_t expected = from;
    if (!__atomic_compare_exchange_n(&self->state, &expected, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    note(to);
    return true;
}

void col_recording_set(enum col_recording to)
{
    __atomic_store_n(&self->state, to, __ATOMIC_RELEASE);
    note(to);
}

void col_recording_limit(uint64_t start_ns, uint64_t end_ns)
{
    self->start_ns = start_ns;
    self->end_ns = end_ns;
}

bool col_recording_is_open(void)
{
    enum col_recording state = col_recording_now();
    return state == COL_RECORDING_ON || state == COL_RECORDING_PAUSED;
}

bool col_recording_is_on_at(uint64_t time_ns)
{
    return col_recording_now() == COL_RECORDING_ON && time_ns >= self->start_ns && time_ns < self->end_ns;
}

uint64_t col_recording_between(uint64_t from_ns, uint64_t to_ns)
{
    return col_recording_turns_between(self, from_ns, to_ns);
}
