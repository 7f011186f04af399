/* open_records.c -- what lies in the open frames of a log whose process is gone: a set, without what was written twice */
#include "open_records.h"

#include "open_rows.h"
#include "open_slots.h"
#include "stream.h"

#include "experiment/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_RECORDS = 64 };

static uint64_t hash_of(const struct col_record_name *name)
{
    uint64_t hash = name->time_ns * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 29 ^ (uint64_t)name->thread << 32 ^ name->source) * UINT64_C(0xBF58476D1CE4E5B9);
    return (hash ^ hash >> 32 ^ name->kind) * UINT64_C(0x94D049BB133111EB) >> 16;
}

static bool is_same(const struct col_record_name *a, const struct col_record_name *b)
{
    return a->time_ns == b->time_ns && a->kind == b->kind && a->thread == b->thread && a->source == b->source;
}

static size_t *slot_of(const struct col_open_records *set, const struct col_record_name *name)
{
    size_t mask = set->index_capacity - 1;
    size_t slot = (size_t)hash_of(name) & mask;
    while (set->index[slot] && !is_same(&set->records[set->index[slot] - 1].name, name))
        slot = (slot + 1) & mask;
    return &set->index[slot];
}

struct col_open_record *col_open_records_find(const struct col_open_records *set, const struct col_record_name *name)
{
    size_t found = set->count > 0 ? *slot_of(set, name) : 0;
    return found ? &set->records[found - 1] : NULL;
}

static bool reserve(struct col_open_records *set)
{
    if (set->count < set->capacity)
        return true;
    size_t capacity = set->capacity ? 2 * set->capacity : FIRST_RECORDS;
    struct col_open_record *records = realloc(set->records, capacity * sizeof *records);
    if (!records)
        return false;
    set->records = records;
    set->capacity = capacity;
    free(set->index);
    set->index_capacity = 2 * capacity;
    set->index = calloc(set->index_capacity, sizeof *set->index);
    if (!set->index)
        return false;
    for (size_t i = 0; i < set->count; i++)
        *slot_of(set, &set->records[i].name) = i + 1;
    return true;
}

/* The record, in place of one of the same name. */
static int add(struct col_open_records *set, const struct col_open_record *record)
{
    struct col_open_record *known = col_open_records_find(set, &record->name);
    size_t place = known ? known->place : set->count;
    if (!known && !reserve(set))
        return -ENOMEM;
    if (!known)
        *slot_of(set, &record->name) = ++set->count;
    set->records[place] = *record;
    set->records[place].place = place;
    return 0;
}

struct col_record_name col_open_records_name(const struct pmclog_ev *ev)
{
    struct col_record_name name = {(uint64_t)ev->pl_ts.tv_sec * 1000000000u + (uint64_t)ev->pl_ts.tv_nsec, ev->pl_type,
                                   ev->pl_tid, UINT32_MAX};
    switch (ev->pl_type) {
    case PMCLOG_TYPE_PMCALLOCATE:
        name.source = ev->pl_u.pl_a.pl_pmcid;
        break;
    case PMCLOG_TYPE_PMCATTACH:
        name.source = ev->pl_u.pl_t.pl_pmcid;
        break;
    case PMCLOG_TYPE_PMCDETACH:
        name.source = ev->pl_u.pl_dt.pl_pmcid;
        break;
    case PMCLOG_TYPE_PROCCSW:
        name.source = ev->pl_u.pl_c.pl_pmcid;
        break;
    case PMCLOG_TYPE_PROCEXIT:
        name.source = ev->pl_u.pl_e.pl_pmcid;
        break;
    case PMCLOG_TYPE_METRIC:
        name.source = ev->pl_u.pl_metric.pl_pmcid;
        break;
    default:
        break;
    }
    return name;
}

/* What it takes to read the records of one slot. */
struct decoder {
    struct col_cursor payload;
    struct col_record_texts texts;
    struct col_samples samples;
    struct col_readings readings;
    struct pmclog_ev ev;
};

static int add_values(struct col_open_records *set, struct decoder *decoder)
{
    int error = 0;
    while (error == 0 && col_readings_next(&decoder->readings, &decoder->ev)) {
        struct col_open_record record = {
            .name = col_open_records_name(&decoder->ev), .form = COL_OPEN_VALUE, .value = decoder->ev};
        error = add(set, &record);
    }
    return error;
}

/* The next record of the slot; what is broken, or of unknown kind, is passed over. */
static int add_next(struct col_open_records *set, struct decoder *decoder)
{
    struct col_open_record record = {.form = COL_OPEN_ENCODED, .bytes = decoder->payload};
    const struct col_samples *samples = &decoder->samples;
    switch (col_record_read(&decoder->payload, &decoder->texts, &decoder->samples, &decoder->readings, &decoder->ev)) {
    case COL_RECORD_EVENT:
        record.name = col_open_records_name(&decoder->ev);
        break;
    case COL_RECORD_SAMPLES:
        record.name =
            (struct col_record_name){samples->time_ns, PMCLOG_TYPE_PCSAMPLE, samples->thread, samples->source};
        break;
    case COL_RECORD_READINGS:
        return add_values(set, decoder);
    case COL_RECORD_BROKEN:
        col_readings_forget(&decoder->readings);
        return 0;
    case COL_RECORD_NO_MEMORY:
        return -ENOMEM;
    case COL_RECORD_UNKNOWN:
    case COL_RECORD_NEWER:
        return 0;
    }
    record.bytes.end = decoder->payload.at;
    return add(set, &record);
}

static int add_encoded(struct col_open_records *set, struct col_cursor payload)
{
    struct decoder *decoder = calloc(1, sizeof *decoder);
    if (!decoder)
        return -ENOMEM;
    decoder->payload = payload;
    int error = 0;
    while (error == 0 && decoder->payload.at < decoder->payload.end)
        error = add_next(set, decoder);
    col_record_free(&decoder->texts);
    col_stacks_free(&decoder->samples.stacks);
    free(decoder);
    return error;
}

/* The thread was not seen to end: what its recorder would have said of it then is all that is known. */
static int add_pending(struct col_open_records *set, const struct col_open_slot *slot)
{
    struct pmclog_ev ev = {.pl_ts = {(time_t)(slot->time_ns / 1000000000u), (long)(slot->time_ns % 1000000000u)},
                           .pl_type = PMCLOG_TYPE_THR_EXIT,
                           .pl_tid = slot->thread};
    ev.pl_u.pl_thr_exit = (struct pmclog_ev_thr_exit){NULL, PMCLOG_UNKNOWN, PMCLOG_UNKNOWN, 0, slot->pending_ns};
    struct col_open_record record = {.name = col_open_records_name(&ev), .form = COL_OPEN_VALUE, .value = ev};
    return slot->pending_ns != 0 ? add(set, &record) : 0;
}

static int add_samples(struct col_open_records *set, const struct col_open_slot *slot, struct col_open_record *record)
{
    if (slot->value_count > COL_SAMPLE_MAX_VALUES)
        return 0;
    record->form = COL_OPEN_ROWS;
    int error = col_open_rows_count(slot->content, slot->value_count) > 0 ? add(set, record) : 0;
    return error != 0 ? error : add_pending(set, slot);
}

static int add_slot(struct col_open_records *set, const struct col_open_slot *slot)
{
    struct col_open_record record = {
        .bytes = slot->content, .unit_ns = slot->unit_ns, .value_count = slot->value_count};
    record.name = (struct col_record_name){slot->time_ns, PMCLOG_TYPE_PCSAMPLE, slot->thread, slot->source};
    switch (slot->state) {
    case COL_OPEN_STATE_FRAME:
        return add_samples(set, slot, &record);
    case COL_OPEN_STATE_CALL:
        record.form = COL_OPEN_CALL;
        record.name.kind = PMCLOG_TYPE_MESSAGE;
        record.name.source = UINT32_MAX;
        return add(set, &record);
    case COL_OPEN_STATE_RECORDS:
        return add_encoded(set, slot->content);
    default:
        return 0;
    }
}

/* The slot's content moves to memory that stays. */
static int keep(struct col_open_records *set, struct col_open_slot *slot)
{
    size_t bytes = (size_t)(slot->content.end - slot->content.at);
    if (set->slot_count == set->slot_capacity) {
        size_t capacity = set->slot_capacity ? 2 * set->slot_capacity : 16;
        uint8_t **slots = realloc(set->slots, capacity * sizeof *slots);
        if (!slots)
            return -ENOMEM;
        set->slots = slots;
        set->slot_capacity = capacity;
    }
    uint8_t *copy = calloc(1, bytes + COL_STREAM_SLACK_BYTES);
    if (!copy)
        return -ENOMEM;
    set->slots[set->slot_count++] = copy;
    if (bytes > 0)
        memcpy(copy, slot->content.at, bytes);
    slot->content = (struct col_cursor){copy, copy + bytes};
    return 0;
}

int col_open_records_load(struct col_open_records *set, int fd, off_t area)
{
    struct col_open_slot slot;
    uint8_t *buffer = malloc(COL_OPEN_SLOT_BYTES);
    int found = buffer ? 1 : -ENOMEM;
    for (off_t offset = area; found > 0;) {
        found = col_open_slots_next(fd, area, &offset, buffer, &slot);
        if (found > 0 && slot.state != COL_OPEN_STATE_FREE) {
            int error = keep(set, &slot);
            if (error == 0)
                error = add_slot(set, &slot);
            found = error ? error : 1;
        }
    }
    free(buffer);
    return found;
}

static int compare(const void *first, const void *second)
{
    const struct col_open_record *a = first, *b = second;
    if (a->name.time_ns != b->name.time_ns)
        return a->name.time_ns < b->name.time_ns ? -1 : 1;
    if (a->name.thread != b->name.thread)
        return a->name.thread < b->name.thread ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

void col_open_records_sort(struct col_open_records *set)
{
    if (set->count > 0)
        qsort(set->records, set->count, sizeof *set->records, compare);
    memset(set->index, 0, set->index_capacity * sizeof *set->index);
    for (size_t i = 0; i < set->count; i++)
        *slot_of(set, &set->records[i].name) = i + 1;
}

void col_open_records_free(struct col_open_records *set)
{
    for (size_t i = 0; i < set->slot_count; i++)
        free(set->slots[i]);
    free(set->slots);
    free(set->records);
    free(set->index);
    *set = (struct col_open_records){0};
}
