/* readings.c -- one METRIC record of several sources, handed out value by value */
#include "readings.h"

bool col_readings_read_value(struct col_cursor *record, struct pmclog_ev_metric *metric)
{
    metric->pl_is_real = 0;
    metric->pl_real = 0;
    metric->pl_value = PMCLOG_UNKNOWN;
    if (col_cursor_read_nil(record) || col_cursor_read_unsigned(record, &metric->pl_value))
        return true;
    metric->pl_is_real = 1;
    return col_cursor_read_real(record, &metric->pl_real);
}

void col_readings_forget(struct col_readings *readings)
{
    readings->has_before = false;
}

/* The value of one place; `before` is the one that the record before had there, or NULL. */
static bool read_place(struct col_cursor *record, const struct col_reading *before, struct col_reading *value)
{
    struct pmclog_ev_metric read;
    if (col_cursor_read_true(record)) {
        if (before == NULL || !before->is_there)
            return false;
        *value = *before;
        return true;
    }
    value->is_there = !col_cursor_read_nil(record);
    if (!value->is_there)
        return true;
    if (!col_readings_read_value(record, &read))
        return false;
    value->whole = read.pl_value;
    value->real = read.pl_real;
    value->is_real = read.pl_is_real;
    return true;
}

bool col_readings_begin(struct col_readings *readings, struct col_cursor *record, uint32_t source, uint32_t count)
{
    uint32_t before_count = readings->has_before && readings->before_source == source ? readings->count : 0;
    readings->has_before = false; /* until all of it has been read */
    if (count > COL_METRIC_MAX_VALUES)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!read_place(record, i < before_count ? &readings->values[i] : NULL, &readings->values[i]))
            return false;
    readings->count = count;
    readings->before_source = source;
    return true;
}

bool col_readings_next(struct col_readings *readings, struct pmclog_ev *ev)
{
    while (readings->next < readings->count && !readings->values[readings->next].is_there)
        readings->next++;
    if (readings->next == readings->count)
        return false;
    const struct col_reading *value = &readings->values[readings->next];
    *ev = readings->event;
    struct pmclog_ev_metric *metric = &ev->pl_u.pl_metric;
    ev->pl_state = PMCLOG_OK;
    if (metric->pl_pmcid != UINT32_MAX) /* which is unknown, and so are those after it */
        metric->pl_pmcid =
            metric->pl_pmcid > UINT32_MAX - readings->next ? UINT32_MAX : metric->pl_pmcid + readings->next;
    metric->pl_is_real = value->is_real;
    metric->pl_value = value->whole;
    metric->pl_real = value->real;
    readings->next++;
    return true;
}
