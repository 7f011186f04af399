/* recording_turns.c -- when a process was recorded: not while it was paused, nor outside the window of -t */
#include "sample/recording_turns.h"

void col_recording_turns_note(struct col_recording_turns *turns, enum col_recording state, uint64_t time_ns)
{
    uint64_t number = __atomic_load_n(&turns->count, __ATOMIC_RELAXED);
    time_ns = (time_ns & ~UINT64_C(1)) | (state == COL_RECORDING_ON);
    do
        __atomic_store_n(&turns->times[number % COL_RECORDING_TURNS], time_ns, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&turns->count, &number, number + 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static uint64_t clip(uint64_t time_ns, uint64_t low_ns, uint64_t high_ns)
{
    return time_ns < low_ns ? low_ns : time_ns > high_ns ? high_ns : time_ns;
}

static uint64_t inside_window(const struct col_recording_turns *turns, uint64_t from_ns, uint64_t to_ns)
{
    return clip(to_ns, turns->start_ns, turns->end_ns) - clip(from_ns, turns->start_ns, turns->end_ns);
}

bool col_recording_turns_end_in(const struct col_recording_turns *turns, enum col_recording state)
{
    uint64_t count = __atomic_load_n(&turns->count, __ATOMIC_ACQUIRE);
    uint64_t last = __atomic_load_n(&turns->times[(count - 1) % COL_RECORDING_TURNS], __ATOMIC_RELAXED);
    return count != 0 && (last & 1) == (state == COL_RECORDING_ON);
}

/*
 * From the last change back. The state is not asked: it changes before that is noted, and would make a change that is under way as old as the last one that was noted.
 */
uint64_t col_recording_turns_between(const struct col_recording_turns *turns, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t count = __atomic_load_n(&turns->count, __ATOMIC_ACQUIRE), sum_ns = 0;
    for (uint64_t back = 1; back <= count && back <= COL_RECORDING_TURNS && from_ns < to_ns; back++) {
        uint64_t time_ns = __atomic_load_n(&turns->times[(count - back) % COL_RECORDING_TURNS], __ATOMIC_RELAXED);
        uint64_t begin_ns = clip(time_ns & ~UINT64_C(1), from_ns, to_ns);
        sum_ns += (time_ns & 1) != 0 ? inside_window(turns, begin_ns, to_ns) : 0;
        to_ns = begin_ns;
    }
    return sum_ns + inside_window(turns, from_ns, to_ns);
}
