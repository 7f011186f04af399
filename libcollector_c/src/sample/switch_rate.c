/* switch_rate.c -- how often the threads of this process are switched, and whether the clock's event can be afforded beside that */
#include "sample/switch_rate.h"

#include <stdbool.h>
#include <stddef.h>

#include "experiment/messages.h"
#include "sample/clock_source.h"
#include "target/own_status.h"

#define WINDOW_NS 8000000u         /* of CPU time: so long is counted before it is judged */
#define CALM_FACTOR 4u             /* a fourth of often is not any more, */
#define CALM_NS 8000000u           /* if it lasts so long at first, and twice as long each time, */
#define LONGEST_CALM_NS 128000000u /* up to this: whoever switches again at once would pay for each change */

static struct {
    uint64_t switches, cpu_ns; /* of the present window */
    uint64_t calm_ns, enough_calm_ns;
} self;

void col_switch_rate_start(void)
{
    self.switches = self.cpu_ns = self.calm_ns = 0;
    self.enough_calm_ns = CALM_NS;
}

static const char note[] = "threads were switched more than 20 times a millisecond, which the clock's event makes "
                           "slow: sampled at the kernel's tick meanwhile";

/* By somebody who stops and continues it all the time: then all clocks are about to be suspended (tracer_watch.h). */
static bool is_traced(void)
{
    return col_own_status_may_be_traced() && col_own_status_read().tracer != 0;
}

void col_switch_rate_note(uint64_t switches, uint64_t cpu_ns)
{
    uint64_t window_switches = __atomic_add_fetch(&self.switches, switches, __ATOMIC_RELAXED);
    uint64_t window_ns = __atomic_add_fetch(&self.cpu_ns, cpu_ns, __ATOMIC_RELAXED);
    if (window_ns < WINDOW_NS)
        return;
    __atomic_store_n(&self.switches, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&self.cpu_ns, 0, __ATOMIC_RELAXED);
    bool is_stopped = col_clock_source_is_event_stopped(), is_often = window_switches * COL_OFTEN_NS > window_ns;
    bool is_calm = window_switches * COL_OFTEN_NS * CALM_FACTOR < window_ns;
    if (!is_stopped && is_often && !is_traced() && col_clock_source_stop_event())
        col_messages_say(COL_MESSAGE_NOTE, NULL, note);
    if (!is_stopped || !is_calm) {
        __atomic_store_n(&self.calm_ns, 0, __ATOMIC_RELAXED);
        return;
    }
    uint64_t enough_ns = __atomic_load_n(&self.enough_calm_ns, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&self.calm_ns, window_ns, __ATOMIC_RELAXED) < enough_ns)
        return;
    if (enough_ns < LONGEST_CALM_NS)
        __atomic_store_n(&self.enough_calm_ns, 2 * enough_ns, __ATOMIC_RELAXED);
    col_clock_source_restart_event();
}
