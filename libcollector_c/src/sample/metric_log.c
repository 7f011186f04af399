/* metric_log.c -- values of metrics on their way to the log */
#include "sample/metric_log.h"

#include "base/clock.h"
#include "base/os.h"
#include "experiment/messages.h"

#define FIRST_SOURCE 2u    /* the clock is 1 */
#define SOURCES_A_FRAME 8u /* they are on the stack of a handler */

/* The last record of several values. */
static struct {
    uint32_t source, count;
    uint32_t frame;
} self;

struct col_event_value *col_metric_log_value(const struct col_metric *metric)
{
    const struct col_metric_table *table = col_metric_table();
    return &table->values[metric - table->metrics];
}

static uint32_t source_of(const struct col_metric *metric)
{
    return FIRST_SOURCE + (uint32_t)(metric - col_metric_table()->metrics);
}

static bool has_value(const struct col_metric *metric)
{
    return col_metric_log_value(metric)->type != COL_EVENT_NO_VALUE;
}

static struct col_event_pmcallocate describe(const struct col_metric *metric)
{
    uint64_t interval_ns = col_metric_table()->interval_ns;
    return (struct col_event_pmcallocate){.source = source_of(metric),
                                          .name = metric->id,
                                          .clock = "plugin",
                                          .unit = metric->units,
                                          .period_ns = interval_ns,
                                          .effective_period_ns = interval_ns,
                                          .attributes = metric->attributes,
                                          .attribute_count = metric->attribute_count};
}

/* Writes what the log must know of the first few metrics that it does not know yet; `*first` moves behind them. */
static int define_some(struct col_metric **first, struct col_metric *end)
{
    struct col_event_pmcallocate sources[SOURCES_A_FRAME];
    struct col_metric *metric = *first;
    uint64_t time_ns = UINT64_MAX;
    size_t count = 0;
    for (; metric < end && count < SOURCES_A_FRAME; metric++) {
        if (!has_value(metric) || metric->is_defined)
            continue;
        sources[count++] = describe(metric);
        time_ns = metric->last_ns < time_ns ? metric->last_ns : time_ns;
    }
    int error = count != 0 ? col_event_sources((struct col_event_head){time_ns, 0}, sources, count,
                                               (uint32_t)col_os_process_id())
                           : 0;
    for (; *first < metric; ++*first)
        (*first)->is_defined |= error == 0 && has_value(*first);
    return error;
}

/* How metrics are to be shown is in the launcher's log, once for all processes. */
static int define(struct col_metric *first, struct col_metric *end)
{
    int error = 0;
    while (first < end && error == 0)
        error = define_some(&first, end);
    return error;
}

/* How many metrics from this one on one record can hold: those without a value in between, but not behind the last. */
static uint32_t run_of(const struct col_metric *first, const struct col_metric *end)
{
    const struct col_metric *last = first;
    for (const struct col_metric *metric = first + 1; metric < end && metric < first + COL_METRIC_MAX_VALUES;
         metric++) {
        if (!has_value(metric))
            continue;
        if (metric->last_ns != first->last_ns || metric->interval_ns != first->interval_ns)
            break;
        last = metric;
    }
    return (uint32_t)(last - first) + 1;
}

static int write_run(const struct col_metric *first, uint32_t count)
{
    const struct col_event_value *values = col_metric_log_value(first);
    struct col_event_value *before = col_metric_table()->before + (values - col_metric_table()->values);
    struct col_event_metric run = {.source = source_of(first),
                                   .interval_ns = first->interval_ns,
                                   .values = values,
                                   .value_count = count,
                                   .before = self.source == source_of(first) && self.count >= count ? before : NULL,
                                   .before_frame = self.frame};
    int error = col_event_metric((struct col_event_head){first->last_ns, 0}, &run);
    if (error != 0 || count == 1)
        return error;
    self.source = run.source;
    self.count = count;
    self.frame = col_event_metric_frame();
    for (uint32_t i = 0; i < count; i++)
        before[i] = values[i];
    return 0;
}

static int write_values(struct col_metric *first, struct col_metric *end)
{
    int error = define(first, end);
    for (uint32_t count = 1; first < end && error == 0; first += count) {
        count = has_value(first) ? run_of(first, end) : 1;
        error = has_value(first) ? write_run(first, count) : 0;
    }
    return error;
}

void col_metric_log_write(struct col_metric *first, struct col_metric *end)
{
    if (write_values(first, end) != 0)
        col_messages_say(COL_MESSAGE_WARNING, NULL, "values of metrics were lost: there was no room for them");
    for (; first < end; first++)
        col_metric_log_value(first)->type = COL_EVENT_NO_VALUE;
}

void col_metric_log_close(void)
{
    const struct col_metric_table *table = col_metric_table();
    struct col_event_head head = {col_clock_now(), 0};
    for (size_t i = 0; i < table->metric_count; i++)
        if (table->metrics[i].is_defined)
            col_event_metric_end(head, &(struct col_event_pmcdetach){.source = source_of(&table->metrics[i]),
                                                                     .pid = (uint32_t)col_os_process_id()});
    col_event_metrics_flush();
}
