/* experiment_kinds.c -- writes three records of every kind: one whose field i of kind k holds k * 1000 + i, or that as text; an empty one; one of its last field alone */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/event.h"
#include "experiment/log_writer.h"
#include "experiment/open_frame.h"

#define N(kind, field) ((kind)*1000u + (field))
#define HEAD(kind) ((struct col_event_head){(uint64_t)(kind) << 40, (kind) + 70000u})
#define DATA_BYTES 2000u /* more than a handler's stack takes */

static char texts[COL_EVENT_MOST_FIELDS][DATA_BYTES]; /* as text and as data: zeros behind the number */
static const char *arrays[COL_EVENT_MOST_FIELDS][3];

/* Fills the fields from `first` on; those before it are nil. */
static void fill(enum col_kind kind, unsigned first, char *fields)
{
    for (unsigned i = 0; i < col_event_field_counts[kind]; i++) {
        const struct col_event_field *field = &col_event_fields[kind][i];
        char *member = fields + field->offset;
        bool is_known = i >= first;
        uint64_t number = !is_known ? COL_EVENT_UNKNOWN : field->type == COL_FIELD_FLAGGED_INT ? (uint64_t) - (int64_t)N(kind, i) : N(kind, i);
        size_t count = field->type == COL_FIELD_DATA ? DATA_BYTES : 3;
        const void *pointer = NULL;
        snprintf(texts[i], sizeof texts[i], "%u", N(kind, i));
        if (is_known)
            pointer = field->type == COL_FIELD_TEXTS ? (const void *)memcpy(arrays[i], (const char *[]){texts[i], "", "a\xff\x01"}, sizeof arrays[i]) : texts[i];
        if (field->type == COL_FIELD_FLAGGED_UINT || field->type == COL_FIELD_FLAGGED_INT)
            fields[field->flag] = is_known;
        if (field->type == COL_FIELD_UINT || field->type == COL_FIELD_FLAGGED_UINT || field->type == COL_FIELD_FLAGGED_INT)
            memcpy(member, &number, sizeof number);
        else if (field->type != COL_FIELD_NIL)
            memcpy(member, &pointer, sizeof pointer);
        if (field->type == COL_FIELD_TEXTS || field->type == COL_FIELD_DATA)
            memcpy(member + sizeof pointer, &count, sizeof count);
    }
}

static unsigned count_fields(enum col_kind kind)
{
    unsigned count = 0;
    for (unsigned i = 0; i < col_event_field_counts[kind]; i++)
        if (col_event_fields[kind][i].type != COL_FIELD_NIL)
            count = i + 1;
    return count;
}

static void write_kind(enum col_kind kind)
{
    unsigned count = count_fields(kind);
    const unsigned firsts[] = {0, count, count - 1};
    for (unsigned i = 0; count != 0 && i < 3; i++) {
        uint64_t fields[2 * COL_EVENT_MOST_FIELDS] = {0};
        fill(kind, firsts[i], (char *)fields);
        if (kind == COL_KIND_INITIALIZE)
            col_event_initialize(HEAD(kind), (struct col_event_initialize *)fields);
        else
            col_record_write(&(struct col_record){HEAD(kind), kind, fields, 0, NULL});
    }
}

static void write_metrics(void)
{
    const struct col_event_value values[] = {{COL_EVENT_WHOLE, {.whole = N(37, 2)}}, {COL_EVENT_NO_VALUE, {0}}, {COL_EVENT_REAL, {.real = -0.125}}, {COL_EVENT_REAL, {.real = 0.1}}};
    struct col_event_metric metric = {.source = N(37, 0), .interval_ns = N(37, 1), .values = values, .value_count = 1};
    col_event_metric(HEAD(37), &metric);
    metric.value_count = 4;
    col_event_metric(HEAD(37), &metric);
    col_event_metrics_flush();
}

/* Two samples with the stacks of the page's worked example, then one with the first stack again. */
static void write_samples(void)
{
    struct col_open_frame frame;
    uintptr_t first[] = {0x401200, 0x401010}, second[] = {0x401208, 0x401010};
    void *memory = calloc(1, col_open_frame_private_bytes());
    col_open_frame_prepare(&frame, memory);
    col_open_frame_acquire(&frame, 70005, N(5, 0), 2, 5);
    col_open_frame_add(&frame, (uint64_t)5 << 40, (uint64_t[]){1000, 7}, first, 2, 0);
    col_open_frame_add(&frame, ((uint64_t)5 << 40) + 1003999, (uint64_t[]){1300, 7}, second, 2, 0);
    col_open_frame_add(&frame, ((uint64_t)5 << 40) + 2003000, (uint64_t[]){100000, 7}, first, 2, 0);
    col_open_frame_release(&frame);
    free(memory);
}

int main(int count, char **arguments)
{
    unsigned image;
    uint64_t frame_count, byte_count;
    if (count != 2 || col_log_writer_open(arguments[1], getpid(), &image) != 0)
        return 1;
    write_kind(COL_KIND_INITIALIZE);
    col_event_batch_begin();
    for (unsigned kind = 0; kind < COL_EVENT_KINDS; kind++)
        if (kind != COL_KIND_INITIALIZE && kind != COL_KIND_CLOSELOG)
            write_kind((enum col_kind)kind);
    col_event_batch_finish();
    write_metrics();
    write_samples();
    col_log_writer_counts(&frame_count, &byte_count);
    struct col_event_closelog closelog = {
        .reason = N(1, 0), .sample_count = col_open_frame_sample_count(), .frame_count = frame_count, .drop_count = N(1, 3), .user_ns = N(1, 4), .system_ns = N(1, 5)};
    col_event_closelog(HEAD(1), &closelog);
    col_log_writer_close();
    return 0;
}
