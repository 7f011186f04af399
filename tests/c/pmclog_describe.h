/* pmclog_describe.h -- an event of pmclog.h as one line of text, field by field in the order of docs/format.md */
#ifndef PMCLOG_DESCRIBE_H
#define PMCLOG_DESCRIBE_H

#include <inttypes.h>
#include <pmclog.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../libcollector_c/pmclog/record_fields.h"

/* The line grows in a fixed buffer; what does not fit is hashed into its last part, so that lines still differ when events do. */
struct line {
    char text[1 << 16];
    size_t length;
    uint64_t rest;
};

static void put(struct line *line, const char *text, size_t length)
{
    size_t room = sizeof line->text - 64 - line->length;
    size_t fitting = length < room ? length : room;
    memcpy(line->text + line->length, text, fitting);
    line->length += fitting;
    for (size_t i = fitting; i < length; i++)
        line->rest = (line->rest ^ (uint8_t)text[i]) * UINT64_C(1099511628211);
}

static void put_number(struct line *line, uint64_t number)
{
    char digits[24];
    char *first = digits + sizeof digits;
    do
        *--first = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    *--first = ' ';
    put(line, first, (size_t)(digits + sizeof digits - first));
}

static void put_64(struct line *line, uint64_t number)
{
    if (number == PMCLOG_UNKNOWN)
        put(line, " -", 2);
    else
        put_number(line, number);
}

static void put_32(struct line *line, uint32_t number)
{
    put_64(line, number == UINT32_MAX ? PMCLOG_UNKNOWN : number);
}

static void put_bytes(struct line *line, char mark, const void *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    if (!bytes) {
        put(line, " -", 2);
        return;
    }
    put(line, (const char[]){' ', mark}, 2);
    for (size_t i = 0; i < count; i++) {
        uint8_t byte = ((const uint8_t *)bytes)[i];
        put(line, (const char[]){digits[byte >> 4], digits[byte & 15]}, 2);
    }
}

static void put_text(struct line *line, const char *text)
{
    put_bytes(line, '"', text, text ? strlen(text) : 0);
}

static void put_texts(struct line *line, const char *const *texts, size_t count)
{
    if (!texts) {
        put(line, " -", 2);
        return;
    }
    put(line, " [", 2);
    for (size_t i = 0; i < count; i++)
        put_text(line, texts[i]);
    put(line, " ]", 2);
}

static void put_status(struct line *line, int32_t status)
{
    char text[16];
    put(line, text, (size_t)(status == -1 ? snprintf(text, sizeof text, " -") : snprintf(text, sizeof text, " %" PRId32, status)));
}

static void put_metric_value(struct line *line, const struct pmclog_ev_metric *metric)
{
    char text[32];
    if (metric->pl_is_real)
        put(line, text, (size_t)snprintf(text, sizeof text, " %.17g", metric->pl_real));
    else
        put_64(line, metric->pl_value);
}

static void put_sample(struct line *line, const struct pmclog_ev_pcsample *sample)
{
    put_32(line, sample->pl_pmcid);
    put_number(line, sample->pl_user_ns);
    put_number(line, sample->pl_system_ns);
    for (size_t i = 0; i < sample->pl_value_count; i++)
        put_number(line, sample->pl_values[i]);
    put_number(line, sample->pl_end);
    for (uint32_t i = 0; i < sample->pl_npc; i++)
        put_number(line, sample->pl_chain[i]);
}

static void put_field(struct line *line, const struct col_record_field *field, const struct pmclog_ev *ev)
{
    const char *member = (const char *)ev + field->offset;
    uint64_t number = 0;
    int32_t status;
    const void *pointer;
    size_t count;
    memcpy(&pointer, member, sizeof pointer);
    memcpy(&count, member + sizeof pointer, sizeof count);
    switch ((enum col_record_field_type)field->type) {
    case UNSIGNED_32:
        memcpy(&number, member, sizeof(uint32_t));
        put_32(line, (uint32_t)number);
        break;
    case UNSIGNED_64:
        memcpy(&number, member, sizeof number);
        put_64(line, number);
        break;
    case SIGNED_32:
        memcpy(&status, member, sizeof status);
        put_status(line, status);
        break;
    case TEXT:
        put_text(line, pointer);
        break;
    case TEXTS:
        put_texts(line, pointer, count);
        break;
    case DATA:
        put_bytes(line, 'x', pointer, count);
        break;
    case VALUES:
        put_metric_value(line, &ev->pl_u.pl_metric);
        break;
    case END_OF_FIELDS:
        break;
    }
}

static void put_fields(struct line *line, const struct pmclog_ev *ev)
{
    if (ev->pl_type == PMCLOG_TYPE_PCSAMPLE)
        put_sample(line, &ev->pl_u.pl_s);
    else
        for (const struct col_record_field *field = col_record_fields[ev->pl_type]; field->type != END_OF_FIELDS; field++)
            put_field(line, field, ev);
}

/* What the event says: kind, time, thread, fields. */
static void describe(struct line *line, const struct pmclog_ev *ev)
{
    line->length = 0;
    line->rest = 0;
    put_number(line, (uint64_t)ev->pl_type);
    put_number(line, (uint64_t)ev->pl_ts.tv_sec * 1000000000u + (uint64_t)ev->pl_ts.tv_nsec);
    put_32(line, ev->pl_tid);
    put_fields(line, ev);
    if (line->rest)
        put_number(line, line->rest);
    line->text[line->length] = '\0';
}

#endif
