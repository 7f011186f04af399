/* record.c -- one record of a sound frame as an event, by the table of all fields */
#include "record.h"

#include "record_fields.h"

#include "experiment/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)PMCLOG_TYPE_USERDATA == COL_KIND_USERDATA && (int)PMCLOG_TYPE_INTERPRETER == COL_KIND_INTERPRETER,
               "kinds are numbered alike");

enum { HEAD_FIELDS = 3 };

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

static bool read_field(struct col_cursor *record, const struct col_record_field *field, struct copier *copier,
                       struct col_readings *readings, struct pmclog_ev *ev)
{
    char *member = (char *)ev + field->offset;
    uint64_t number;
    switch ((enum col_record_field_type)field->type) {
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
static bool read_fields(struct col_cursor *record, size_t there, const struct col_record_field *field,
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
    if (kind >= COL_RECORD_KINDS || col_record_fields[kind][0].type == END_OF_FIELDS)
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
    if (!read_fields(&record, fields, col_record_fields[kind], texts, readings, ev)) {
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
