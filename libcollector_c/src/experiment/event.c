/* event.c -- one function per kind of record; those of sources are in event_source.c */
#include "experiment/event.h"

#include <errno.h>

#include "experiment/msgpack.h"
#include "experiment/record.h"

#define PAYLOAD_BYTES (COL_FRAME_MAX_BYTES - COL_FRAME_HEADER_BYTES)
#define ARRAY_BYTES (COL_FRAME_MAX_BYTES / 4) /* most that one array of strings may take */

static int write_numbers(struct col_event_head head, enum col_kind kind, uint32_t count, const uint64_t *numbers)
{
    return col_record_write(&(struct col_record){head, kind, count, NULL, numbers});
}

int col_event_closelog(struct col_event_head head, const struct col_event_closelog *closelog)
{
    const uint64_t values[] = {closelog->reason,     closelog->sample_count, closelog->frame_count,
                               closelog->drop_count, closelog->user_ns,      closelog->system_ns};
    return write_numbers(head, COL_KIND_CLOSELOG, 6, values);
}

int col_event_dropnotify(struct col_event_head head, uint32_t cause, uint64_t count)
{
    return write_numbers(head, COL_KIND_DROPNOTIFY, 4,
                         (const uint64_t[]){cause, count, 0, 0}); /* a place in the log is for readers to say */
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
    put_reading(out, initialize->cpu_count);
    col_msgpack_uint(out, initialize->page_bytes);
    col_msgpack_text(out, initialize->executable);
    col_msgpack_texts(out, initialize->arguments, initialize->argument_count, ARRAY_BYTES);
    col_msgpack_text(out, initialize->directory);
    col_msgpack_texts(out, initialize->options, initialize->option_count, ARRAY_BYTES);
    col_msgpack_text(out, initialize->library_version);
    col_msgpack_uint(out, initialize->uid);
    col_msgpack_uint(out, initialize->user_ns);
    col_msgpack_uint(out, initialize->system_ns);
    put_reading(out, initialize->start_ticks);
    put_reading(out, initialize->pid_namespace);
    put_reading(out, initialize->rank);
    put_reading(out, initialize->local_rank);
}

int col_event_initialize(struct col_event_head head, const struct col_event_initialize *initialize)
{
    return col_record_write(&(struct col_record){head, COL_KIND_INITIALIZE, 23, put_initialize, initialize});
}

static void put_known(struct col_msgpack *out, bool is_known, uint64_t number)
{
    if (is_known)
        col_msgpack_uint(out, number);
    else
        col_msgpack_nil(out);
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
    put_known(out, change->has_file, change->file_bytes);
    put_known(out, change->has_file, change->file_changed_ns);
    put_known(out, change->has_file, change->text_checksum);
    col_msgpack_uint(out, change->first_line);
    col_msgpack_uint(out, change->line_table);
    col_msgpack_nil(out); /* definition and caller: of imported code only */
    col_msgpack_nil(out);
}

int col_event_mappingchange(struct col_event_head head, const struct col_event_mappingchange *change)
{
    if (change->lines_bytes > PAYLOAD_BYTES || change->code_bytes > PAYLOAD_BYTES)
        return -EFBIG;
    return col_record_write(&(struct col_record){head, COL_KIND_MAPPINGCHANGE, 21, put_mappingchange, change});
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
    uint64_t numbers[4];
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

int col_event_thr_exit(struct col_event_head head, const char *name, uint64_t user_ns, uint64_t system_ns,
                       uint64_t pending_ns, bool is_exit)
{
    return col_record_write(
        &(struct col_record){head, COL_KIND_THR_EXIT, 5, put_thread_life,
                             &(struct thread_life){name, {user_ns, system_ns, is_exit, pending_ns}, 4}});
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

int col_event_message(struct col_event_head head, uint32_t severity, const char *text, uint64_t count,
                      const char *subject)
{
    return col_record_write(&(struct col_record){head, COL_KIND_MESSAGE, 4, put_message,
                                                 &(struct message){severity, text, subject, count}});
}

struct interpreter {
    const char *name, *version, *detail;
    uint64_t start, end;
};

static void put_interpreter(struct col_msgpack *out, const void *fields)
{
    const struct interpreter *interpreter = fields;
    col_msgpack_text(out, interpreter->name);
    col_msgpack_text(out, interpreter->version);
    col_msgpack_uint(out, interpreter->start);
    col_msgpack_uint(out, interpreter->end);
    col_msgpack_text(out, interpreter->detail);
}

int col_event_interpreter(struct col_event_head head, const char *name, const char *version, uint64_t start,
                          uint64_t end, const char *detail)
{
    return col_record_write(&(struct col_record){head, COL_KIND_INTERPRETER, 5, put_interpreter,
                                                 &(struct interpreter){name, version, detail, start, end}});
}

void col_event_batch_begin(void)
{
    col_record_batch_begin();
}

int col_event_batch_finish(void)
{
    return col_record_batch_finish();
}
