/* tick_rest.c -- rests for a thread whose ticks take as long as they are apart */
#include "sample/tick_rest.h"

#include "base/clock.h"

#define MOST_SHARE 2 /* two ticks in a row that take more than such a part of a period are followed by a rest, */
#define REST 2       /* so many times as long */
#define SHORT_PERIOD_NS 100000u /* any stack may take such a part of it; of longer ones those that are costly to walk */

static struct {
    uint64_t period_ns;
} self;

void col_tick_rest_start(uint64_t period_ns)
{
    self.period_ns = period_ns;
}

void col_tick_rest_end(struct col_thread *thread)
{
    thread->open_ns += thread->held_user_ns + thread->held_system_ns;
    thread->held_user_ns = thread->held_system_ns = thread->held_missing_ns = 0;
}

bool col_tick_rest_holds(struct col_thread *thread, struct col_weight *weight)
{
    uint64_t passed_ns = weight->user_ns + weight->system_ns;
    thread->held_user_ns += weight->user_ns;
    thread->held_system_ns += weight->system_ns;
    thread->held_missing_ns += weight->missing_ns;
    if (thread->rest_ns > passed_ns) {
        thread->rest_ns -= passed_ns;
        return true;
    }
    *weight = (struct col_weight){thread->held_user_ns, thread->held_system_ns, thread->held_missing_ns};
    thread->held_user_ns = thread->held_system_ns = thread->held_missing_ns = thread->rest_ns = 0;
    return false;
}

/* What a tick has taken is seldom worth a look at the clock. One alone may have been put aside by the host. */
void col_tick_rest_judge(struct col_thread *thread, uint64_t begin_ns)
{
    bool may_be_long = thread->deep.is_costly || self.period_ns < SHORT_PERIOD_NS;
    uint64_t now_ns = may_be_long ? col_clock_thread_cpu() : 0;
    uint64_t took_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
    bool was_long = thread->is_long;
    thread->is_long = took_ns > self.period_ns / MOST_SHARE;
    if (was_long && thread->is_long)
        thread->rest_ns = REST * took_ns;
}
