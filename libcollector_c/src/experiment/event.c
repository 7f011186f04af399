/* event.c -- one function per kind of record */
#include "experiment/event.h"

#include <errno.h>
#include <string.h>

#include "experiment/log_writer.h"
#include "experiment/msgpack.h"
#include "experiment/open_records.h"
#include "experiment/record.h"
#include "experiment/sample_rows.h"

#define PAYLOAD_BYTES (COL_FRAME_MAX_BYTES - COL_FRAME_HEADER_BYTES)
#define ARRAY_BYTES (COL_FRAME_MAX_BYTES / 4) /* most that one array of strings may take */

/* Fields that are all numbers. */
struct numbers {
    const uint64_t *values;
    uint32_t count;
};

static void put_numbers(struct col_msgpack *out, const void *fields)
{
    const struct numbers *numbers = fields;
    for (uint32_t i = 0; i < numbers->count; i++)
        col_msgpack_uint(out, numbers->values[i]);
}

static int write_numbers(struct col_event_head head, enum col_kind kind, uint32_t count, const uint64_t *values)
{
    struct numbers numbers = {values, count};
    return col_record_write(&(struct col_record){head, kind, count, put_numbers, &numbers});
}

int col_event_closelog(struct col_event_head head, const struct col_event_closelog *closelog)
{
    const uint64_t values[] = {closelog->reason,     closelog->sample_count, closelog->frame_count,
                               closelog->drop_count, closelog->user_ns,      closelog->system_ns};
    return write_numbers(head, COL_KIND_CLOSELOG, 6, values);
}

int col_event_dropnotify(struct col_event_head head, uint32_t cause, uint64_t count)
{
    return write_numbers(head, COL_KIND_DROPNOTIFY, 4, (const uint64_t[]){cause, count, 0, 0}); /* a place in the log is for readers to say */
}

int col_event_pmcattach(struct col_event_head head, uint32_t source, uint32_t pid)
{
    return write_numbers(head, COL_KIND_PMCATTACH, 2, (const uint64_t[]){source, pid});
}

int col_event_pmcdetach(struct col_event_head head, uint32_t source, uint32_t pid)
{
    return write_numbers(head, COL_KIND_PMCDETACH, 2, (const uint64_t[]){source, pid});
}

int col_event_proccsw(struct col_event_head head, uint32_t source, uint32_t pid, uint64_t value, bool is_voluntary, uint64_t count)
{
    return write_numbers(head, COL_KIND_PROCCSW, 5, (const uint64_t[]){source, pid, value, is_voluntary, count});
}

int col_event_procfork(struct col_event_head head, uint32_t parent_pid, uint32_t child_pid)
{
    return write_numbers(head, COL_KIND_PROCFORK, 2, (const uint64_t[]){parent_pid, child_pid});
}

int col_event_pause(struct col_event_head head, uint32_t cause)
{
    return write_numbers(head, COL_KIND_PAUSE, 1, (const uint64_t[]){cause});
}

int col_event_resume(struct col_event_head head, uint32_t cause)
{
    return write_numbers(head, COL_KIND_RESUME, 1, (const uint64_t[]){cause});
}

/* Strings until they have taken enough room; a last one says that there were more. */
static void put_strings(struct col_msgpack *out, const char *const *strings, size_t count)
{
    size_t fitting = 0, bytes = 0;
    while (fitting < count && (bytes += strlen(strings[fitting]) + 5) <= ARRAY_BYTES)
        fitting++;
    col_msgpack_array(out, (uint32_t)(fitting < count ? fitting + 1 : count));
    for (size_t i = 0; i < fitting; i++)
        col_msgpack_text(out, strings[i]);
    if (fitting < count)
        col_msgpack_text(out, "...");
}

static void put_reading(struct col_msgpack *out, uint64_t value)
{
    if (value == COL_EVENT_UNKNOWN)
        col_msgpack_nil(out);
    else
        col_msgpack_uint(out, value);
}

static void put_initialize(struct col_msgpack *out, const void *fields)
{
    const struct col_event_initialize *initialize = fields;
    col_msgpack_uint(out, COL_FORMAT_VERSION_MAJOR);
    col_msgpack_uint(out, COL_FORMAT_VERSION_MINOR);
    col_msgpack_uint(out, initialize->wall_ns);
    col_msgpack_uint(out, initialize->pid);
    col_msgpack_uint(out, initialize->ppid);
    col_msgpack_uint(out, initialize->image);
    col_msgpack_text(out, initialize->host);
    col_msgpack_text(out, initialize->machine);
    col_msgpack_text(out, initialize->kernel);
    col_msgpack_uint(out, initialize->cpu_count);
    col_msgpack_uint(out, initialize->page_bytes);
    col_msgpack_text(out, initialize->executable);
    put_strings(out, initialize->arguments, initialize->argument_count);
    col_msgpack_text(out, initialize->directory);
    put_strings(out, initialize->options, initialize->option_count);
    col_msgpack_text(out, initialize->library_version);
    col_msgpack_uint(out, initialize->uid);
    col_msgpack_uint(out, initialize->user_ns);
    col_msgpack_uint(out, initialize->system_ns);
}

int col_event_initialize(struct col_event_head head, const struct col_event_initialize *initialize)
{
    return col_record_write(&(struct col_record){head, COL_KIND_INITIALIZE, 19, put_initialize, initialize});
}

static void put_mappingchange(struct col_msgpack *out, const void *fields)
{
    const struct col_event_mappingchange *change = fields;
    col_msgpack_uint(out, change->action);
    col_msgpack_uint(out, change->map_kind);
    col_msgpack_uint(out, change->start);
    col_msgpack_uint(out, change->end);
    col_msgpack_uint(out, change->bias);
    col_msgpack_uint(out, change->file_offset);
    col_msgpack_text(out, change->path);
    col_msgpack_binary(out, change->build_id != NULL ? change->build_id : "",
                       change->build_id != NULL ? (uint32_t)change->build_id_bytes : 0);
    col_msgpack_text(out, change->name);
    col_msgpack_text(out, change->alias);
    col_msgpack_text(out, change->source);
    col_msgpack_binary(out, change->lines, (uint32_t)change->lines_bytes);
    col_msgpack_binary(out, change->code, (uint32_t)change->code_bytes);
    col_msgpack_text(out, change->copy);
}

int col_event_mappingchange(struct col_event_head head, const struct col_event_mappingchange *change)
{
    if (change->lines_bytes > PAYLOAD_BYTES || change->code_bytes > PAYLOAD_BYTES)
        return -EFBIG;
    return col_record_write(&(struct col_record){head, COL_KIND_MAPPINGCHANGE, 14, put_mappingchange, change});
}

static void put_pmcallocate(struct col_msgpack *out, const void *fields)
{
    const struct col_event_pmcallocate *allocate = fields;
    col_msgpack_uint(out, allocate->source);
    col_msgpack_text(out, allocate->name);
    col_msgpack_text(out, allocate->clock);
    col_msgpack_text(out, allocate->unit);
    col_msgpack_uint(out, allocate->period_ns);
    col_msgpack_uint(out, allocate->effective_period_ns);
    col_msgpack_text(out, allocate->detail);
    put_strings(out, allocate->attributes, allocate->attribute_count);
}

int col_event_pmcallocate(struct col_event_head head, const struct col_event_pmcallocate *allocate)
{
    return col_record_write(&(struct col_record){head, COL_KIND_PMCALLOCATE, 8, put_pmcallocate, allocate});
}

static size_t encode_source(struct col_event_head head, const struct col_event_pmcallocate *source, uint32_t pid, uint8_t *start, size_t capacity)
{
    struct numbers attach = {(const uint64_t[]){source->source, pid}, 2};
    size_t bytes = col_record_encode(&(struct col_record){head, COL_KIND_PMCALLOCATE, 8, put_pmcallocate, source}, start, capacity);
    return bytes + col_record_encode(&(struct col_record){head, COL_KIND_PMCATTACH, 2, put_numbers, &attach}, capacity > bytes ? start + bytes : NULL, capacity > bytes ? capacity - bytes : 0);
}

int col_event_sources(struct col_event_head head, const struct col_event_pmcallocate *sources, size_t count, uint32_t pid)
{
    struct col_log_frame frame;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += encode_source(head, &sources[i], pid, NULL, 0);
    int error = col_log_writer_begin(&frame, bytes);
    if (error != 0)
        return error;
    for (size_t i = 0, at = 0; i < count; i++)
        at += encode_source(head, &sources[i], pid, frame.payload + at, bytes - at);
    col_log_writer_finish(&frame);
    return 0;
}

struct procexec {
    uint32_t pid;
    uint64_t entry;
    const char *path;
};

static void put_procexec(struct col_msgpack *out, const void *fields)
{
    const struct procexec *procexec = fields;
    col_msgpack_uint(out, procexec->pid);
    col_msgpack_uint(out, procexec->entry);
    col_msgpack_text(out, procexec->path);
}

int col_event_procexec(struct col_event_head head, uint32_t pid, uint64_t entry, const char *path)
{
    return col_record_write(
        &(struct col_record){head, COL_KIND_PROCEXEC, 3, put_procexec, &(struct procexec){pid, entry, path}});
}

static void put_procexit(struct col_msgpack *out, const void *fields)
{
    const struct col_event_procexit *procexit = fields;
    col_msgpack_uint(out, procexit->pid);
    col_msgpack_uint(out, procexit->source);
    col_msgpack_uint(out, procexit->value);
    col_msgpack_uint(out, procexit->user_ns);
    col_msgpack_uint(out, procexit->system_ns);
    if (procexit->has_status)
        col_msgpack_int(out, procexit->status);
    else
        col_msgpack_nil(out);
}

int col_event_procexit(struct col_event_head head, const struct col_event_procexit *procexit)
{
    return col_record_write(&(struct col_record){head, COL_KIND_PROCEXIT, 6, put_procexit, procexit});
}

struct sysexit {
    uint32_t pid;
    const int *status;
    const char *path, *reason;
};

static void put_sysexit(struct col_msgpack *out, const void *fields)
{
    const struct sysexit *sysexit = fields;
    col_msgpack_uint(out, sysexit->pid);
    if (sysexit->status != NULL)
        col_msgpack_int(out, *sysexit->status);
    else
        col_msgpack_nil(out);
    col_msgpack_text(out, sysexit->path);
    col_msgpack_text(out, sysexit->reason);
}

int col_event_sysexit(struct col_event_head head, uint32_t pid, const int *status, const char *path, const char *reason)
{
    return col_record_write(
        &(struct col_record){head, COL_KIND_SYSEXIT, 4, put_sysexit, &(struct sysexit){pid, status, path, reason}});
}

struct userdata {
    const void *data;
    uint32_t bytes;
};

static void put_userdata(struct col_msgpack *out, const void *fields)
{
    const struct userdata *userdata = fields;
    col_msgpack_binary(out, userdata->data, userdata->bytes);
}

int col_event_userdata(struct col_event_head head, const void *data, size_t bytes)
{
    if (bytes > PAYLOAD_BYTES)
        return -EFBIG;
    return col_record_write(
        &(struct col_record){head, COL_KIND_USERDATA, 1, put_userdata, &(struct userdata){data, (uint32_t)bytes}});
}

static void put_sample(struct col_msgpack *out, const void *fields)
{
    const struct col_event_sample *sample = fields;
    col_msgpack_text(out, sample->label);
    col_msgpack_uint(out, sample->cause);
    col_msgpack_uint(out, sample->pid);
    col_msgpack_uint(out, sample->user_ns);
    col_msgpack_uint(out, sample->system_ns);
    col_msgpack_uint(out, sample->minor_faults);
    col_msgpack_uint(out, sample->major_faults);
    col_msgpack_uint(out, sample->voluntary_switches);
    col_msgpack_uint(out, sample->involuntary_switches);
    put_reading(out, sample->resident_bytes);
    put_reading(out, sample->read_bytes);
    put_reading(out, sample->written_bytes);
}

int col_event_sample(struct col_event_head head, const struct col_event_sample *sample)
{
    return col_record_write(&(struct col_record){head, COL_KIND_SAMPLE, 12, put_sample, sample});
}

struct thread_life {
    const char *name;
    uint64_t numbers[3];
    uint32_t number_count;
};

static void put_thread_life(struct col_msgpack *out, const void *fields)
{
    const struct thread_life *life = fields;
    col_msgpack_text(out, life->name);
    for (uint32_t i = 0; i < life->number_count; i++)
        col_msgpack_uint(out, life->numbers[i]);
}

int col_event_thr_create(struct col_event_head head, const char *name, uint64_t start_address)
{
    return col_record_write(&(struct col_record){head, COL_KIND_THR_CREATE, 2, put_thread_life,
                                                 &(struct thread_life){name, {start_address}, 1}});
}

int col_event_thr_exit(struct col_event_head head, const char *name, uint64_t user_ns, uint64_t system_ns, bool is_exit)
{
    return col_record_write(&(struct col_record){head, COL_KIND_THR_EXIT, 4, put_thread_life, &(struct thread_life){name, {user_ns, system_ns, is_exit}, 3}});
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
    return one->type == other->type && one->type != COL_EVENT_NO_VALUE && memcmp(&one->is, &other->is, sizeof one->is) == 0;
}

static void put_metric(struct col_msgpack *out, const void *fields)
{
    const struct col_event_metric *metric = fields;
    bool has_before = metric->before != NULL && metric->value_count > 1 && metric->before_frame == col_open_records_frame();
    col_msgpack_uint(out, metric->source);
    col_msgpack_uint(out, metric->interval_ns);
    if (metric->value_count > 1)
        col_msgpack_array(out, metric->value_count);
    for (uint32_t i = 0; i < metric->value_count; i++)
        if (has_before && is_same(&metric->values[i], &metric->before[i]))
            col_msgpack_true(out);
        else
            put_value(out, &metric->values[i]);
    col_msgpack_uint(out, metric->merged_count);
}

int col_event_metric(struct col_event_head head, const struct col_event_metric *metric)
{
    return col_open_records_add(&(struct col_record){head, COL_KIND_METRIC, 4, put_metric, metric});
}

int col_event_metric_end(struct col_event_head head, uint32_t source, uint32_t pid)
{
    struct numbers numbers = {(const uint64_t[]){source, pid}, 2};
    return col_open_records_add(&(struct col_record){head, COL_KIND_PMCDETACH, 2, put_numbers, &numbers});
}

uint32_t col_event_metric_frame(void)
{
    return col_open_records_frame();
}

int col_event_metrics_flush(void)
{
    return col_open_records_flush();
}

struct message {
    uint32_t severity;
    const char *text, *subject;
    uint64_t count;
};

static void put_message(struct col_msgpack *out, const void *fields)
{
    const struct message *message = fields;
    col_msgpack_uint(out, message->severity);
    col_msgpack_text(out, message->text);
    col_msgpack_uint(out, message->count);
    col_msgpack_text(out, message->subject);
}

int col_event_message(struct col_event_head head, uint32_t severity, const char *text, uint64_t count, const char *subject)
{
    return col_record_write(&(struct col_record){head, COL_KIND_MESSAGE, 4, put_message, &(struct message){severity, text, subject, count}});
}

static void put_column(struct col_msgpack *out, const struct col_sample_rows *rows, unsigned column)
{
    col_msgpack_array(out, 2);
    col_msgpack_uint(out, rows->columns[column].base);
    uint8_t *space = col_msgpack_binary_space(out, rows->count * rows->columns[column].width);
    if (space != NULL)
        col_sample_rows_put_column(rows, column, space);
}

struct pcsample {
    uint32_t source, unit_ns;
    struct col_sample_rows rows;
};

static void put_pcsample(struct col_msgpack *out, const void *fields)
{
    const struct pcsample *pcsample = fields;
    const struct col_sample_rows *rows = &pcsample->rows;
    col_msgpack_uint(out, pcsample->source);
    col_msgpack_uint(out, rows->count);
    col_msgpack_uint(out, pcsample->unit_ns);
    for (unsigned column = 0; column < COL_COLUMN_COUNT; column++)
        put_column(out, rows, column);
    col_msgpack_uint(out, rows->stack_count);
    uint8_t *space = col_msgpack_binary_space(out, rows->definition_bytes);
    if (space != NULL)
        col_sample_rows_put_definitions(rows, space);
}

int col_event_pcsample(struct col_event_head head, uint32_t source, uint32_t unit_ns, const void *rows, size_t bytes, uint32_t *count)
{
    struct pcsample pcsample = {source, unit_ns, {.start = rows, .bytes = (uint32_t)bytes}};
    col_sample_rows_measure(&pcsample.rows);
    *count = pcsample.rows.count;
    struct col_record record = {head, COL_KIND_PCSAMPLE, 9, put_pcsample, &pcsample};
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
