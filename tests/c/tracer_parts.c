/* tracer_parts.c -- whether the clocks are on, under tracers that come, go, are asked for and refused. Ends with 0 if all agree */
#include <stdbool.h>
#include <stdio.h>

#include "experiment/event.h"
#include "experiment/messages.h"
#include "sample/clock_source.h"
#include "sample/metrics.h"
#include "sample/recording.h"
#include "sample/tracer_watch.h"
#include "target/own_status.h"

static int failures, pauses, resumptions; /* the last two as the log has them */
static uint32_t tracer;
static bool is_ticking, ticks_while_suspending;
static enum col_recording recording;
static struct col_thread thread;
static uint64_t now_ns;

static void check(bool is_true, const char *what)
{
    if (!is_true) {
        printf("%s\n", what);
        failures++;
    }
}

static bool tick(void)
{
    return col_tracer_watch_tick(&thread, now_ns += 1000000000);
}

/* ---- what stands below ---- */

uint64_t col_clock_now(void)
{
    return now_ns;
}

struct col_own_status col_own_status_read(void)
{
    return (struct col_own_status){.tracer = tracer};
}

enum col_clock_kind col_clock_source_kind(void)
{
    return COL_CLOCK_SIGTRAP;
}

/* Its own timers are off at once; the events tick until the launcher has switched them off. */
void col_clock_source_suspend(int patience_ms)
{
    is_ticking = false;
    if (ticks_while_suspending && patience_ms != 0)
        tick();
}

void col_clock_source_resume(void)
{
    is_ticking = true;
}

bool col_recording_change(enum col_recording from, enum col_recording to)
{
    bool is_changed = recording == from;
    recording = is_changed ? to : recording;
    return is_changed;
}

void col_metrics_break(void)
{
}

void col_messages_say(unsigned severity, const char *subject, const char *text)
{
    (void)severity, (void)subject, (void)text;
}

int col_record_write(const struct col_record *record)
{
    pauses += record->kind == COL_KIND_PAUSE;
    resumptions += record->kind == COL_KIND_RESUME;
    return 0;
}

/* ---- what is tested ---- */

static void begin(bool is_slow)
{
    pauses = resumptions = 0;
    tracer = 0;
    is_ticking = true;
    ticks_while_suspending = is_slow;
    recording = COL_RECORDING_ON;
    thread = (struct col_thread){0};
    col_tracer_watch_start();
}

static void end(void)
{
    check(is_ticking && recording == COL_RECORDING_ON, "does not go on without a tracer");
    check(pauses == 1 && resumptions == 1, "the log has not one pause with its end");
}

static void attach_and_go(void)
{
    begin(false);
    check(!tick() && is_ticking, "ticks stand for nothing without a tracer");
    tracer = 1;
    thread.time_ns += 1000000000; /* a stop */
    check(tick() && !is_ticking && recording == COL_RECORDING_PAUSED, "goes on under a tracer");
    tracer = 0;
    tick();
    end();
}

static void ask_for_it(bool is_slow)
{
    begin(is_slow);
    check(col_tracer_watch_surrender(), "nothing is suspended for a tracer that is asked for");
    check(!is_ticking && recording == COL_RECORDING_PAUSED, "goes on between asking for a tracer and having one");
    tracer = 1;
    col_tracer_watch_surrendered(true);
    tick();
    check(!is_ticking && recording == COL_RECORDING_PAUSED, "goes on under a tracer that was asked for");
    tracer = 0;
    tick();
    end();
}

static void be_refused(bool is_slow)
{
    begin(is_slow);
    check(col_tracer_watch_surrender(), "nothing is suspended for a tracer that will be refused");
    col_tracer_watch_surrendered(false);
    end();
}

int main(void)
{
    attach_and_go();
    for (int is_slow = 0; is_slow <= 1; is_slow++) {
        ask_for_it(is_slow);
        be_refused(is_slow);
    }
    return failures != 0;
}
