/* event.c -- the records that are more than their fields: several in one frame, values of metrics, samples */
#include "experiment/event.h"

#include <string.h>

#include "experiment/log_writer.h"
#include "experiment/msgpack.h"
#include "experiment/open_records.h"

int col_event_initialize(struct col_event_head head, const struct col_event_initialize *event)
{
    struct col_event_initialize versioned = *event;
    versioned.version_major = COL_FORMAT_VERSION_MAJOR;
    versioned.version_minor = COL_FORMAT_VERSION_MINOR;
    return col_record_write(&(struct col_record){head, COL_KIND_INITIALIZE, &versioned, 0, NULL});
}

static size_t encode_source(struct col_event_head head, const struct col_event_pmcallocate *source, uint32_t pid,
                            uint8_t *start, size_t capacity)
{
    struct col_event_pmcattach attach = {.source = source->source, .pid = pid, .value = COL_EVENT_UNKNOWN};
    size_t bytes =
        col_record_encode(&(struct col_record){head, COL_KIND_PMCALLOCATE, source, 0, NULL}, start, capacity);
    return bytes + col_record_encode(&(struct col_record){head, COL_KIND_PMCATTACH, &attach, 0, NULL},
                                     capacity > bytes ? start + bytes : NULL, capacity > bytes ? capacity - bytes : 0);
}

int col_event_sources(struct col_event_head head, const struct col_event_pmcallocate *sources, size_t count,
                      uint32_t pid)
{
    struct col_log_frame frame;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += encode_source(head, &sources[i], pid, NULL, 0);
    int error = col_log_writer_begin(&frame, bytes, COL_LOG_RECORDS);
    if (error != 0)
        return error;
    for (size_t i = 0, at = 0; i < count; i++)
        at += encode_source(head, &sources[i], pid, frame.payload + at, bytes - at);
    col_log_writer_finish(&frame);
    return 0;
}

static void put_value(struct col_msgpack *out, const struct col_event_value *value)
{
    if (value->type == COL_EVENT_REAL)
        col_msgpack_float(out, value->is.real);
    else if (value->type == COL_EVENT_WHOLE)
        col_msgpack_uint(out, value->is.whole);
    else
        col_msgpack_nil(out);
}

static bool is_same(const struct col_event_value *one, const struct col_event_value *other)
{
    return one->type == other->type && one->type != COL_EVENT_NO_VALUE &&
           memcmp(&one->is, &other->is, sizeof one->is) == 0;
}

static void put_metric(struct col_msgpack *out, const void *fields)
{
    const struct col_event_metric *metric = fields;
    bool has_before =
        metric->before != NULL && metric->value_count > 1 && metric->before_frame == col_open_records_frame();
    col_msgpack_uint(out, metric->source);
    col_msgpack_uint(out, metric->interval_ns);
    if (metric->value_count > 1)
        col_msgpack_array(out, metric->value_count);
    for (uint32_t i = 0; i < metric->value_count; i++)
        if (has_before && is_same(&metric->values[i], &metric->before[i]))
            col_msgpack_true(out);
        else
            put_value(out, &metric->values[i]);
}

int col_event_metric(struct col_event_head head, const struct col_event_metric *metric)
{
    return col_open_records_add(&(struct col_record){head, COL_KIND_METRIC, metric, 3, put_metric});
}

int col_event_metric_end(struct col_event_head head, const struct col_event_pmcdetach *end)
{
    return col_open_records_add(&(struct col_record){head, COL_KIND_PMCDETACH, end, 0, NULL});
}

uint32_t col_event_metric_frame(void)
{
    return col_open_records_frame();
}

int col_event_metrics_flush(void)
{
    return col_open_records_flush();
}

static void put_column(struct col_msgpack *out, const struct col_sample_rows *rows, unsigned column)
{
    col_msgpack_array(out, 2);
    col_msgpack_uint(out, rows->columns[column].base);
    uint8_t *space = col_msgpack_binary_space(out, rows->count * rows->columns[column].width);
    if (space != NULL)
        col_sample_rows_put_column(rows, column, space);
}

static void put_pcsample(struct col_msgpack *out, const void *fields)
{
    const struct col_event_pcsample *pcsample = fields;
    const struct col_sample_rows *rows = &pcsample->rows;
    col_msgpack_uint(out, pcsample->source);
    col_msgpack_uint(out, rows->count);
    col_msgpack_uint(out, pcsample->unit_ns);
    put_column(out, rows, 0);
    col_msgpack_array(out, rows->value_count);
    for (unsigned column = 1; column <= rows->value_count + 1;
         column++) /* the values, and behind their array the stacks */
        put_column(out, rows, column);
    col_msgpack_uint(out, rows->stack_count);
    uint8_t *space = col_msgpack_binary_space(out, rows->definition_bytes);
    if (space != NULL)
        col_sample_rows_put_definitions(rows, space);
}

int col_event_pcsample(struct col_event_head head, struct col_event_pcsample *pcsample)
{
    col_sample_rows_measure(&pcsample->rows);
    struct col_record record = {head, COL_KIND_PCSAMPLE, pcsample, 8, put_pcsample};
    return col_record_write_in_place(&record, col_record_encode(&record, NULL, 0));
}

void col_event_batch_begin(void)
{
    col_record_batch_begin();
}

int col_event_batch_finish(void)
{
    return col_record_batch_finish();
}
