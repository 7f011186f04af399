/* metrics.c -- when the getters of metrics are called, and what becomes of their values */
#include "sample/metrics.h"

#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/text_format.h"
#include "experiment/messages.h"
#include "sample/metric_log.h"
#include "sample/plugin_call.h"

#define READINGS_AN_INTERVAL 1000u
#define MOST_SHARE 5      /* of the program's time that readings take: one in so many parts */
#define TIME_LIMIT 32768u /* for backfill: 32 doublings */
#define ROOM_BYTES 16384u /* of stack that a getter must find */
#define S_NS 1000000000u

static struct {
    uint64_t next_ns; /* atomic: when getters are due; UINT64_MAX: never */
    bool is_broken;   /* atomic: see col_metrics_break */
    bool was_sampled; /* since the open */
    bool is_holding;  /* fork has the turn */
    bool has_backfill;
    bool is_kept_off_ticks;
    bool was_long; /* the last reading took more of an interval than is its share */
    uint64_t interval_ns, start_ns;
    uint32_t kept_count; /* sample times, since the interval was doubled */
    uint64_t *times;     /* all sample times that were kept, where they are needed */
    uint32_t time_count;
} self = {.next_ns = UINT64_MAX};

static bool is_open(void)
{
    return __atomic_load_n(&self.next_ns, __ATOMIC_RELAXED) != UINT64_MAX;
}

static bool is_usable(const struct col_metric *metric)
{
    return metric->is_wanted && metric->getter.address != NULL && !metric->is_disabled && metric->plugin->is_loaded &&
           !metric->plugin->is_disabled;
}

/* ---- one value ---- */

static uint64_t ns_of(struct timespec time)
{
    return (uint64_t)time.tv_sec * S_NS + (uint64_t)time.tv_nsec;
}

/*
 * Calls the getter. `*time_ns` becomes the time it set, if that makes sense. The time it is given lies in this frame: plugins compare its address with those
 * of their own locals. False: it failed.
 */
static __attribute__((noinline)) bool call_getter(struct col_metric *metric, uint64_t *time_ns,
                                                  struct col_event_value *value)
{
    struct timespec time = {(time_t)(*time_ns / S_NS), (long)(*time_ns % S_NS)};
    uintptr_t id = col_metric_table_metric_id(metric);
    uint32_t error_count = metric->error_count;
    int result;
    value->is.whole = 0; /* which is 0.0, too */
    col_plugin_call_begin(col_metric_table_describe(metric));
    if (metric->is_real)
        result = metric->getter.real(id, &time, &value->is.real);
    else
        result = metric->getter.whole(id, &time, &value->is.whole);
    col_plugin_call_end();
    *time_ns = ns_of(time);
    if (metric->error_count != error_count)
        return false;
    if (result != 0)
        col_messages_say(COL_MESSAGE_WARNING, metric->id, "its getter failed without saying why");
    return result == 0 && !metric->plugin->is_disabled;
}

/* Calls the getter at a sample; its value, if it counts, is then among `values`. */
static void read_metric(struct col_metric *metric, uint64_t sample_ns)
{
    uint64_t time_ns = sample_ns;
    struct col_event_value *value = col_metric_log_value(metric);
    bool is_good = call_getter(metric, &time_ns, value);
    if (time_ns < sample_ns || time_ns > sample_ns + S_NS)
        time_ns = sample_ns; /* anything but the present has no meaning */
    metric->interval_ns = metric->has_baseline && time_ns > metric->last_ns ? time_ns - metric->last_ns : 0;
    metric->last_ns = time_ns;
    metric->has_baseline = true;
    if (is_good && (metric->interval_ns != 0 || !metric->is_divided))
        value->type = metric->is_real ? COL_EVENT_REAL : COL_EVENT_WHOLE;
}

/* ---- one sample time ---- */

static void read_all(uint64_t time_ns)
{
    const struct col_metric_table *table = col_metric_table();
    bool was_broken = __atomic_exchange_n(&self.is_broken, false, __ATOMIC_RELAXED);
    for (size_t i = 0; i < table->metric_count; i++) {
        struct col_metric *metric = &table->metrics[i];
        metric->has_baseline &= !was_broken;
        if (is_usable(metric) && !metric->is_backfilled)
            read_metric(metric, time_ns);
    }
    col_metric_log_write(table->metrics, table->metrics + table->metric_count);
}

static void keep_time(uint64_t time_ns)
{
    if (self.times != NULL && self.time_count < TIME_LIMIT)
        self.times[self.time_count++] = time_ns;
    if (++self.kept_count == READINGS_AN_INTERVAL) {
        self.kept_count = 0;
        self.interval_ns *= 2;
    }
}

/*
 * Of the program's own time, and the signals that wait for it, getters that take longer than they are apart would leave nothing: two such readings in a row are followed
 * by a rest. One alone may have been put aside by the host.
 */
static uint64_t following(uint64_t due_ns, uint64_t time_ns, uint64_t end_ns)
{
    uint64_t took_ns = end_ns - time_ns;
    bool was_long = self.was_long;
    self.was_long = took_ns > self.interval_ns / MOST_SHARE;
    uint64_t next_ns = due_ns + self.interval_ns > time_ns ? due_ns + self.interval_ns : time_ns + self.interval_ns;
    uint64_t rested_ns = end_ns + (MOST_SHARE - 1) * took_ns;
    return was_long && self.was_long && rested_ns > next_ns ? rested_ns : next_ns;
}

/* Handlers may run on a small stack that the program set aside for them: nothing there for strangers. */
static bool has_room(const ucontext_t *context)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = (uintptr_t)context->uc_stack.ss_sp;
    bool is_alternate = (context->uc_stack.ss_flags & SS_DISABLE) == 0 && here - low < context->uc_stack.ss_size;
    return !is_alternate || here - low > ROOM_BYTES;
}

uint64_t col_metrics_due(void)
{
    return __atomic_load_n(&self.next_ns, __ATOMIC_RELAXED);
}

/* With the turn. */
static void read_if_due(uint64_t time_ns)
{
    uint64_t due_ns = self.next_ns; /* somebody else may just have been at it */
    if (time_ns < due_ns)
        return;
    keep_time(time_ns);
    read_all(time_ns);
    __atomic_store_n(&self.next_ns, following(due_ns, time_ns, col_clock_now()), __ATOMIC_RELAXED);
}

void col_metrics_keep_off_ticks(void)
{
    self.is_kept_off_ticks = true;
}

bool col_metrics_note_sample(uint64_t time_ns, const ucontext_t *context)
{
    self.was_sampled = true;
    return time_ns >= col_metrics_due() && !self.is_kept_off_ticks && has_room(context);
}

/*
 * Signals are blocked, because whoever interrupts a getter must come back: a cancelled thread, or one whose handler jumps away, would leave the plugin in the middle of its
 * work, the turn taken, and the note of a call that is long over.
 */
void col_metrics_tick(uint64_t time_ns)
{
    self.was_sampled = true;
    if (time_ns < col_metrics_due())
        return;
    struct col_os_signals signals = col_os_block_signals();
    if (col_plugin_call_take_turn()) {
        read_if_due(time_ns);
        col_plugin_call_give_turn();
    }
    col_os_restore_signals(signals);
}

void col_metrics_break(void)
{
    __atomic_store_n(&self.is_broken, true, __ATOMIC_RELAXED);
}

/* ---- open ---- */

static void prepare(const struct col_metric_table *table)
{
    self.has_backfill = false;
    for (size_t i = 0; i < table->metric_count; i++)
        self.has_backfill |= table->metrics[i].is_wanted && table->metrics[i].is_backfilled;
    if (self.has_backfill && self.times == NULL)
        self.times = col_os_map_memory(TIME_LIMIT * sizeof *self.times);
}

/*
 * In a fork child: getters that give increments begin to count here, so that the rest of a short life is not lost. What the getters say of the parent is dropped.
 */
static void begin_anew(struct col_metric *metric)
{
    if (!metric->is_divided || metric->is_backfilled || !is_usable(metric))
        return;
    read_metric(metric, self.start_ns);
    col_metric_log_value(metric)->type = COL_EVENT_NO_VALUE;
}

void col_metrics_open(uint64_t start_ns, bool is_recording)
{
    const struct col_metric_table *table = col_metric_table();
    if (table->metric_count == 0)
        return;
    prepare(table);
    self.interval_ns = table->interval_ns;
    self.start_ns = start_ns != 0 ? start_ns : col_clock_now();
    self.kept_count = self.time_count = 0;
    self.is_broken = !is_recording;
    self.was_sampled = self.was_long = false;
    bool has_turn = start_ns == 0 && is_recording && col_plugin_call_take_turn();
    for (size_t i = 0; i < table->metric_count; i++) {
        struct col_metric *metric = &table->metrics[i];
        metric->is_defined = false;
        metric->last_ns = start_ns != 0 ? metric->plugin->since_ns : self.start_ns;
        metric->has_baseline = start_ns != 0 || !metric->is_divided;
        if (has_turn)
            begin_anew(metric);
    }
    if (has_turn)
        col_plugin_call_give_turn();
    __atomic_store_n(&self.next_ns, self.start_ns + self.interval_ns, __ATOMIC_RELEASE);
}

/* ---- close ---- */

static void stop_all(const struct col_metric_table *table)
{
    for (size_t i = 0; i < table->plugin_count; i++) {
        struct col_plugin *plugin = &table->plugins[i];
        if (!plugin->is_started)
            continue;
        plugin->is_started = false;
        if (plugin->stop != NULL)
            col_plugin_call_function(plugin, plugin->stop, plugin->stop_name);
    }
}

/* The value that a backfilled metric had at one sample time; false when it is not to be asked again. */
static bool fill(struct col_metric *metric, uint64_t sample_ns)
{
    uint64_t time_ns = sample_ns;
    struct col_event_value *value = col_metric_log_value(metric);
    bool is_good = call_getter(metric, &time_ns, value);
    if (time_ns != sample_ns) {
        col_metric_table_fail_metric(col_metric_table_metric_id(metric), 0,
                                     "it changed the time of a sample that it was asked to fill in");
        return false;
    }
    metric->interval_ns = sample_ns - metric->last_ns;
    metric->last_ns = sample_ns;
    if (is_good)
        value->type = metric->is_real ? COL_EVENT_REAL : COL_EVENT_WHOLE;
    col_metric_log_write(metric, metric + 1);
    return is_usable(metric);
}

static void backfill_all(const struct col_metric_table *table)
{
    for (size_t i = 0; i < table->metric_count; i++) {
        struct col_metric *metric = &table->metrics[i];
        if (!metric->is_backfilled || !is_usable(metric))
            continue;
        for (uint32_t at = 0; at < self.time_count && fill(metric, self.times[at]); at++)
            continue;
    }
}

/* A process that was never sampled, and shorter than an interval, has nothing to say that its sample points do not: it costs as little as can be. */
static bool wants_last_reading(uint64_t time_ns)
{
    return self.was_sampled || time_ns - self.start_ns >= self.interval_ns;
}

static void tell_of_lost_call(void)
{
    char sentence[500];
    const char *text = col_plugin_call_current();
    if (text == NULL)
        return;
    col_text_print_into(sentence, sizeof sentence, "recording ended while a metric plugin was being called: %s", text);
    col_messages_say(COL_MESSAGE_ERROR, NULL, sentence);
}

void col_metrics_close(bool is_recording)
{
    const struct col_metric_table *table = col_metric_table();
    if (!is_open())
        return;
    int error = errno;
    struct col_os_signals signals = col_os_block_signals();
    bool has_turn = col_plugin_call_await_turn();
    __atomic_store_n(&self.next_ns, UINT64_MAX, __ATOMIC_RELAXED);
    if (!has_turn)
        tell_of_lost_call();
    else {
        uint64_t time_ns = col_clock_now();
        if (is_recording && wants_last_reading(time_ns)) {
            keep_time(time_ns);
            read_all(time_ns);
        }
        stop_all(table);
        backfill_all(table);
        col_metric_log_close();
        col_plugin_call_give_turn();
    }
    col_os_restore_signals(signals);
    errno = error;
}

/* ---- fork ---- */

void col_metrics_fork_prepare(void)
{
    self.is_holding = is_open() && col_plugin_call_await_turn();
}

void col_metrics_fork_parent(void)
{
    if (self.is_holding)
        col_plugin_call_give_turn();
    self.is_holding = false;
}

void col_metrics_fork_child(void)
{
    __atomic_store_n(&self.next_ns, UINT64_MAX, __ATOMIC_RELAXED);
    self.is_holding = false;
    col_plugin_call_forget();
}
