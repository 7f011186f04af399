/* record.c -- one record of a sound frame as an event: the fields of every kind as one table */
#include "record.h"

#include "experiment/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)PMCLOG_TYPE_USERDATA == COL_KIND_USERDATA && (int)PMCLOG_TYPE_INTERPRETER == COL_KIND_INTERPRETER,
               "kinds are numbered alike");

enum { HEAD_FIELDS = 3, MAX_FIELDS = 23, KINDS = COL_KIND_INTERPRETER + 1 };

/* TEXTS, DATA: a pointer and, in the member after it, a count. VALUES: those of METRIC. */
enum field_type { END_OF_FIELDS, UNSIGNED_32, UNSIGNED_64, SIGNED_32, TEXT, TEXTS, DATA, VALUES };

struct field {
    uint16_t type;
    uint16_t offset; /* of the member in struct pmclog_ev */
};

#define FIELD(type, member)                                                                                            \
    {                                                                                                                  \
        type, offsetof(struct pmclog_ev, pl_u.member)                                                                  \
    }

/* In the order of docs/format.md. PCSAMPLE is not here: samples.c. */
static const struct field fields_of[KINDS][MAX_FIELDS + 1] = {
    [PMCLOG_TYPE_CLOSELOG] = {FIELD(UNSIGNED_32, pl_cl.pl_reason), FIELD(UNSIGNED_64, pl_cl.pl_sample_count),
                              FIELD(UNSIGNED_64, pl_cl.pl_frame_count), FIELD(UNSIGNED_64, pl_cl.pl_drop_count),
                              FIELD(UNSIGNED_64, pl_cl.pl_user_ns), FIELD(UNSIGNED_64, pl_cl.pl_system_ns)},
    [PMCLOG_TYPE_DROPNOTIFY] = {FIELD(UNSIGNED_32, pl_d.pl_cause), FIELD(UNSIGNED_64, pl_d.pl_count),
                                FIELD(UNSIGNED_64, pl_d.pl_offset), FIELD(UNSIGNED_64, pl_d.pl_length)},
    [PMCLOG_TYPE_INITIALIZE] = {FIELD(UNSIGNED_32, pl_i.pl_version),
                                FIELD(UNSIGNED_32, pl_i.pl_version_minor),
                                FIELD(UNSIGNED_64, pl_i.pl_wall_ns),
                                FIELD(UNSIGNED_32, pl_i.pl_pid),
                                FIELD(UNSIGNED_32, pl_i.pl_ppid),
                                FIELD(UNSIGNED_32, pl_i.pl_image),
                                FIELD(TEXT, pl_i.pl_host),
                                FIELD(TEXT, pl_i.pl_arch),
                                FIELD(TEXT, pl_i.pl_kernel),
                                FIELD(UNSIGNED_32, pl_i.pl_cpu_count),
                                FIELD(UNSIGNED_64, pl_i.pl_page_bytes),
                                FIELD(TEXT, pl_i.pl_pathname),
                                FIELD(TEXTS, pl_i.pl_arguments),
                                FIELD(TEXT, pl_i.pl_directory),
                                FIELD(TEXTS, pl_i.pl_options),
                                FIELD(TEXT, pl_i.pl_library_version),
                                FIELD(UNSIGNED_32, pl_i.pl_uid),
                                FIELD(UNSIGNED_64, pl_i.pl_user_ns),
                                FIELD(UNSIGNED_64, pl_i.pl_system_ns),
                                FIELD(UNSIGNED_64, pl_i.pl_start_ticks),
                                FIELD(UNSIGNED_64, pl_i.pl_pid_namespace),
                                FIELD(UNSIGNED_64, pl_i.pl_rank),
                                FIELD(UNSIGNED_64, pl_i.pl_local_rank)},
    [PMCLOG_TYPE_MAPPINGCHANGE] = {FIELD(UNSIGNED_32, pl_m.pl_action),
                                   FIELD(UNSIGNED_32, pl_m.pl_kind),
                                   FIELD(UNSIGNED_64, pl_m.pl_start),
                                   FIELD(UNSIGNED_64, pl_m.pl_end),
                                   FIELD(UNSIGNED_64, pl_m.pl_bias),
                                   FIELD(UNSIGNED_64, pl_m.pl_file_offset),
                                   FIELD(TEXT, pl_m.pl_pathname),
                                   FIELD(DATA, pl_m.pl_build_id),
                                   FIELD(TEXT, pl_m.pl_name),
                                   FIELD(TEXT, pl_m.pl_alias),
                                   FIELD(TEXT, pl_m.pl_source),
                                   FIELD(DATA, pl_m.pl_lines),
                                   FIELD(DATA, pl_m.pl_code),
                                   FIELD(TEXT, pl_m.pl_copy),
                                   FIELD(UNSIGNED_64, pl_m.pl_file_bytes),
                                   FIELD(UNSIGNED_64, pl_m.pl_file_changed_ns),
                                   FIELD(UNSIGNED_32, pl_m.pl_text_checksum),
                                   FIELD(UNSIGNED_32, pl_m.pl_first_line),
                                   FIELD(UNSIGNED_32, pl_m.pl_line_table),
                                   FIELD(TEXT, pl_m.pl_definition),
                                   FIELD(UNSIGNED_64, pl_m.pl_caller)},
    [PMCLOG_TYPE_PMCALLOCATE] = {FIELD(UNSIGNED_32, pl_a.pl_pmcid), FIELD(TEXT, pl_a.pl_evname),
                                 FIELD(TEXT, pl_a.pl_clock), FIELD(TEXT, pl_a.pl_unit),
                                 FIELD(UNSIGNED_64, pl_a.pl_period_ns), FIELD(UNSIGNED_64, pl_a.pl_effective_period_ns),
                                 FIELD(TEXT, pl_a.pl_detail), FIELD(TEXTS, pl_a.pl_attributes),
                                 FIELD(TEXTS, pl_a.pl_values), FIELD(TEXT, pl_a.pl_counted_as)},
    [PMCLOG_TYPE_PMCATTACH] = {FIELD(UNSIGNED_32, pl_t.pl_pmcid), FIELD(UNSIGNED_32, pl_t.pl_pid),
                               FIELD(UNSIGNED_64, pl_t.pl_value)},
    [PMCLOG_TYPE_PMCDETACH] = {FIELD(UNSIGNED_32, pl_dt.pl_pmcid), FIELD(UNSIGNED_32, pl_dt.pl_pid)},
    [PMCLOG_TYPE_PROCCSW] = {FIELD(UNSIGNED_32, pl_c.pl_pmcid), FIELD(UNSIGNED_32, pl_c.pl_pid),
                             FIELD(UNSIGNED_64, pl_c.pl_value), FIELD(UNSIGNED_32, pl_c.pl_voluntary),
                             FIELD(UNSIGNED_64, pl_c.pl_switches)},
    [PMCLOG_TYPE_PROCEXEC] = {FIELD(UNSIGNED_32, pl_x.pl_pid), FIELD(UNSIGNED_64, pl_x.pl_entryaddr),
                              FIELD(TEXT, pl_x.pl_pathname)},
    [PMCLOG_TYPE_PROCEXIT] = {FIELD(UNSIGNED_32, pl_e.pl_pid), FIELD(UNSIGNED_32, pl_e.pl_pmcid),
                              FIELD(UNSIGNED_64, pl_e.pl_value), FIELD(UNSIGNED_64, pl_e.pl_user_ns),
                              FIELD(UNSIGNED_64, pl_e.pl_system_ns), FIELD(SIGNED_32, pl_e.pl_status)},
    [PMCLOG_TYPE_PROCFORK] = {FIELD(UNSIGNED_32, pl_f.pl_oldpid), FIELD(UNSIGNED_32, pl_f.pl_newpid)},
    [PMCLOG_TYPE_SYSEXIT] = {FIELD(UNSIGNED_32, pl_se.pl_pid), FIELD(SIGNED_32, pl_se.pl_status),
                             FIELD(TEXT, pl_se.pl_pathname), FIELD(TEXT, pl_se.pl_reason)},
    [PMCLOG_TYPE_USERDATA] = {FIELD(DATA, pl_u.pl_userdata)},
    [PMCLOG_TYPE_SAMPLE] = {FIELD(TEXT, pl_sample.pl_label), FIELD(UNSIGNED_32, pl_sample.pl_cause),
                            FIELD(UNSIGNED_32, pl_sample.pl_pid), FIELD(UNSIGNED_64, pl_sample.pl_user_ns),
                            FIELD(UNSIGNED_64, pl_sample.pl_system_ns), FIELD(UNSIGNED_64, pl_sample.pl_minor_faults),
                            FIELD(UNSIGNED_64, pl_sample.pl_major_faults),
                            FIELD(UNSIGNED_64, pl_sample.pl_voluntary_switches),
                            FIELD(UNSIGNED_64, pl_sample.pl_involuntary_switches),
                            FIELD(UNSIGNED_64, pl_sample.pl_resident_bytes),
                            FIELD(UNSIGNED_64, pl_sample.pl_read_bytes),
                            FIELD(UNSIGNED_64, pl_sample.pl_written_bytes)},
    [PMCLOG_TYPE_PAUSE] = {FIELD(UNSIGNED_32, pl_pause.pl_cause)},
    [PMCLOG_TYPE_RESUME] = {FIELD(UNSIGNED_32, pl_resume.pl_cause)},
    [PMCLOG_TYPE_THR_CREATE] = {FIELD(TEXT, pl_thr_create.pl_name), FIELD(UNSIGNED_64, pl_thr_create.pl_start_address)},
    [PMCLOG_TYPE_THR_EXIT] = {FIELD(TEXT, pl_thr_exit.pl_name), FIELD(UNSIGNED_64, pl_thr_exit.pl_user_ns),
                              FIELD(UNSIGNED_64, pl_thr_exit.pl_system_ns), FIELD(UNSIGNED_32, pl_thr_exit.pl_is_exit),
                              FIELD(UNSIGNED_64, pl_thr_exit.pl_pending_ns)},
    [PMCLOG_TYPE_METRIC] = {FIELD(UNSIGNED_32, pl_metric.pl_pmcid), FIELD(UNSIGNED_64, pl_metric.pl_interval_ns),
                            FIELD(VALUES, pl_metric)},
    [PMCLOG_TYPE_MESSAGE] = {FIELD(UNSIGNED_32, pl_message.pl_severity), FIELD(TEXT, pl_message.pl_text),
                             FIELD(UNSIGNED_64, pl_message.pl_count), FIELD(TEXT, pl_message.pl_subject)},
    [PMCLOG_TYPE_INTERPRETER] = {FIELD(TEXT, pl_interpreter.pl_name), FIELD(TEXT, pl_interpreter.pl_version),
                                 FIELD(UNSIGNED_64, pl_interpreter.pl_start), FIELD(UNSIGNED_64, pl_interpreter.pl_end),
                                 FIELD(TEXT, pl_interpreter.pl_detail)},
};

/* Where the next text goes. Room for all of a record is made beforehand, so that pointers stay. */
struct copier {
    char *next;
};

/* At the worst a record is all empty texts of one array: one byte each there, a pointer and a zero byte each here. */
static bool make_room(struct col_record_texts *texts, size_t record_bytes)
{
    size_t needed = (record_bytes + 1) * (sizeof(char *) + 2);
    if (needed <= texts->capacity)
        return true;
    free(texts->bytes);
    texts->bytes = malloc(needed);
    texts->capacity = texts->bytes ? needed : 0;
    return texts->bytes != NULL;
}

static bool copy_text(struct col_cursor *record, struct copier *copier, const char **text)
{
    struct col_extent extent;
    *text = NULL;
    if (col_cursor_read_nil(record))
        return true;
    if (!col_cursor_read_text(record, &extent))
        return false;
    *text = memcpy(copier->next, extent.bytes, extent.count);
    copier->next[extent.count] = '\0';
    copier->next += extent.count + 1;
    return true;
}

static bool copy_texts(struct col_cursor *record, struct copier *copier, const char **first, size_t *count)
{
    uint32_t texts;
    *count = 0;
    memset(first, 0, sizeof(char **));
    if (col_cursor_read_nil(record))
        return true;
    if (!col_cursor_read_array(record, &texts) || texts > (size_t)(record->end - record->at))
        return false;
    copier->next += -(uintptr_t)copier->next & (sizeof(char *) - 1);
    const char **pointers = (const char **)(void *)copier->next;
    copier->next += texts * sizeof *pointers;
    for (uint32_t i = 0; i < texts; i++)
        if (!copy_text(record, copier, &pointers[i]))
            return false;
    memcpy(first, &pointers, sizeof pointers);
    *count = texts;
    return true;
}

static bool refer_to_data(struct col_cursor *record, const void **data, size_t *count)
{
    struct col_extent extent = {NULL, 0};
    if (!col_cursor_read_nil(record) && !col_cursor_read_data(record, &extent))
        return false;
    *data = extent.bytes;
    *count = extent.count;
    return true;
}

/* The value, or an array of those of several sources, which *readings takes. */
static bool read_values(struct col_cursor *record, struct pmclog_ev_metric *metric, struct col_readings *readings)
{
    uint32_t places;
    if (!col_cursor_read_array(record, &places))
        return col_readings_read_value(record, metric);
    readings->is_taken = true;
    return col_readings_begin(readings, record, metric->pl_pmcid, places);
}

static uint32_t narrow(uint64_t number)
{
    return number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static bool read_unsigned(struct col_cursor *record, uint64_t *value)
{
    *value = PMCLOG_UNKNOWN;
    return col_cursor_read_nil(record) || col_cursor_read_unsigned(record, value);
}

static bool read_signed(struct col_cursor *record, int32_t *value)
{
    int64_t number = -1;
    uint64_t large;
    if (!col_cursor_read_nil(record) && !col_cursor_read_signed(record, &number) &&
        !col_cursor_read_unsigned(record, &large))
        return false;
    *value = number == (int32_t)number ? (int32_t)number : -1;
    return true;
}

static bool read_field(struct col_cursor *record, const struct field *field, struct copier *copier,
                       struct col_readings *readings, struct pmclog_ev *ev)
{
    char *member = (char *)ev + field->offset;
    uint64_t number;
    switch ((enum field_type)field->type) {
    case UNSIGNED_32:
        if (!read_unsigned(record, &number))
            return false;
        memcpy(member, &(uint32_t){narrow(number)}, sizeof(uint32_t));
        return true;
    case UNSIGNED_64:
        return read_unsigned(record, (uint64_t *)(void *)member);
    case SIGNED_32:
        return read_signed(record, (int32_t *)(void *)member);
    case TEXT:
        return copy_text(record, copier, (const char **)(void *)member);
    case TEXTS:
        return copy_texts(record, copier, (const char **)(void *)member, (size_t *)(void *)(member + sizeof(char **)));
    case DATA:
        return refer_to_data(record, (const void **)(void *)member, (size_t *)(void *)(member + sizeof(void *)));
    case VALUES:
        return read_values(record, &ev->pl_u.pl_metric, readings);
    case END_OF_FIELDS:
        break;
    }
    return false;
}

/* Fields that the record does not have are nil. */
static bool read_fields(struct col_cursor *record, size_t there, const struct field *field,
                        struct col_record_texts *texts, struct col_readings *readings, struct pmclog_ev *ev)
{
    static const uint8_t nil = 0xC0;
    struct copier copier = {texts->bytes};
    for (; field->type != END_OF_FIELDS; field++) {
        struct col_cursor nothing = {&nil, &nil + 1};
        bool is_there = there > 0;
        if (!read_field(is_there ? record : &nothing, field, &copier, readings, ev))
            return false;
        there -= is_there;
    }
    return true;
}

static bool is_newer(struct col_cursor record, size_t fields)
{
    uint64_t version;
    return fields > 0 && col_cursor_read_unsigned(&record, &version) && version > COL_FORMAT_VERSION_MAJOR;
}

enum col_record_is col_record_read(struct col_cursor *payload, struct col_record_texts *texts,
                                   struct col_samples *samples, struct col_readings *readings, struct pmclog_ev *ev)
{
    struct col_cursor record = *payload;
    if (!col_cursor_skip(payload)) {
        payload->at = payload->end;
        return COL_RECORD_BROKEN;
    }
    record.end = payload->at;
    uint32_t fields;
    uint64_t kind, time_ns, thread;
    if (!col_cursor_read_array(&record, &fields) || fields < HEAD_FIELDS || !col_cursor_read_unsigned(&record, &kind) ||
        !col_cursor_read_unsigned(&record, &time_ns) || !col_cursor_read_unsigned(&record, &thread))
        return COL_RECORD_BROKEN;
    fields -= HEAD_FIELDS;
    if (kind == PMCLOG_TYPE_PCSAMPLE) {
        int error = col_samples_begin(samples, &record, fields, time_ns, narrow(thread));
        return error == 0 ? COL_RECORD_SAMPLES : error == -ENOMEM ? COL_RECORD_NO_MEMORY : COL_RECORD_BROKEN;
    }
    if (kind >= KINDS || fields_of[kind][0].type == END_OF_FIELDS)
        return COL_RECORD_UNKNOWN;
    if (kind == PMCLOG_TYPE_INITIALIZE && is_newer(record, fields))
        return COL_RECORD_NEWER;
    if (!make_room(texts, (size_t)(record.end - record.at)))
        return COL_RECORD_NO_MEMORY;
    ev->pl_ts.tv_sec = (time_t)(time_ns / 1000000000u);
    ev->pl_ts.tv_nsec = (long)(time_ns % 1000000000u);
    ev->pl_type = (enum pmclog_type)kind;
    ev->pl_tid = narrow(thread);
    readings->is_taken = false;
    if (!read_fields(&record, fields, fields_of[kind], texts, readings, ev)) {
        readings->next = readings->count;
        return COL_RECORD_BROKEN;
    }
    if (!readings->is_taken)
        return COL_RECORD_EVENT;
    readings->event = *ev;
    readings->has_before = true;
    readings->next = 0;
    return COL_RECORD_READINGS;
}

void col_record_free(struct col_record_texts *texts)
{
    free(texts->bytes);
    *texts = (struct col_record_texts){0};
}
