/* pmclog_describe.h -- an event of pmclog.h as one line of text, field by field in the order of docs/format.md */
#ifndef PMCLOG_DESCRIBE_H
#define PMCLOG_DESCRIBE_H

#include <inttypes.h>
#include <pmclog.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

static void put_initialize(struct line *line, const struct pmclog_ev_initialize *initialize)
{
    put_32(line, initialize->pl_version);
    put_32(line, initialize->pl_version_minor);
    put_64(line, initialize->pl_wall_ns);
    put_32(line, (uint32_t)initialize->pl_pid);
    put_32(line, (uint32_t)initialize->pl_ppid);
    put_32(line, initialize->pl_image);
    put_text(line, initialize->pl_host);
    put_text(line, initialize->pl_arch);
    put_text(line, initialize->pl_kernel);
    put_32(line, initialize->pl_cpu_count);
    put_64(line, initialize->pl_page_bytes);
    put_text(line, initialize->pl_pathname);
    put_texts(line, initialize->pl_arguments, initialize->pl_argument_count);
    put_text(line, initialize->pl_directory);
    put_texts(line, initialize->pl_options, initialize->pl_option_count);
    put_text(line, initialize->pl_library_version);
    put_32(line, initialize->pl_uid);
    put_64(line, initialize->pl_user_ns);
    put_64(line, initialize->pl_system_ns);
    put_64(line, initialize->pl_start_ticks);
    put_64(line, initialize->pl_pid_namespace);
    put_64(line, initialize->pl_rank);
    put_64(line, initialize->pl_local_rank);
}

static void put_mapping(struct line *line, const struct pmclog_ev_mappingchange *mapping)
{
    put_32(line, mapping->pl_action);
    put_32(line, mapping->pl_kind);
    put_64(line, mapping->pl_start);
    put_64(line, mapping->pl_end);
    put_64(line, mapping->pl_bias);
    put_64(line, mapping->pl_file_offset);
    put_text(line, mapping->pl_pathname);
    put_bytes(line, 'x', mapping->pl_build_id, mapping->pl_build_id_bytes);
    put_text(line, mapping->pl_name);
    put_text(line, mapping->pl_alias);
    put_text(line, mapping->pl_source);
    put_bytes(line, 'x', mapping->pl_lines, mapping->pl_lines_bytes);
    put_bytes(line, 'x', mapping->pl_code, mapping->pl_code_bytes);
    put_text(line, mapping->pl_copy);
    put_64(line, mapping->pl_file_bytes);
    put_64(line, mapping->pl_file_changed_ns);
    put_32(line, mapping->pl_text_checksum);
    put_32(line, mapping->pl_first_line);
    put_32(line, mapping->pl_line_table);
    put_text(line, mapping->pl_definition);
    put_64(line, mapping->pl_caller);
}

static void put_sample_point(struct line *line, const struct pmclog_ev_sample *sample)
{
    put_text(line, sample->pl_label);
    put_32(line, sample->pl_cause);
    put_32(line, (uint32_t)sample->pl_pid);
    put_64(line, sample->pl_user_ns);
    put_64(line, sample->pl_system_ns);
    put_64(line, sample->pl_minor_faults);
    put_64(line, sample->pl_major_faults);
    put_64(line, sample->pl_voluntary_switches);
    put_64(line, sample->pl_involuntary_switches);
    put_64(line, sample->pl_resident_bytes);
    put_64(line, sample->pl_read_bytes);
    put_64(line, sample->pl_written_bytes);
}

static void put_fields(struct line *line, const struct pmclog_ev *ev)
{
    switch (ev->pl_type) {
    case PMCLOG_TYPE_CLOSELOG:
        put_32(line, ev->pl_u.pl_cl.pl_reason);
        put_64(line, ev->pl_u.pl_cl.pl_sample_count);
        put_64(line, ev->pl_u.pl_cl.pl_frame_count);
        put_64(line, ev->pl_u.pl_cl.pl_drop_count);
        put_64(line, ev->pl_u.pl_cl.pl_user_ns);
        put_64(line, ev->pl_u.pl_cl.pl_system_ns);
        break;
    case PMCLOG_TYPE_DROPNOTIFY:
        put_32(line, ev->pl_u.pl_d.pl_cause);
        put_64(line, ev->pl_u.pl_d.pl_count);
        put_64(line, ev->pl_u.pl_d.pl_offset);
        put_64(line, ev->pl_u.pl_d.pl_length);
        break;
    case PMCLOG_TYPE_INITIALIZE:
        put_initialize(line, &ev->pl_u.pl_i);
        break;
    case PMCLOG_TYPE_MAPPINGCHANGE:
        put_mapping(line, &ev->pl_u.pl_m);
        break;
    case PMCLOG_TYPE_PCSAMPLE:
        put_sample(line, &ev->pl_u.pl_s);
        break;
    case PMCLOG_TYPE_PMCALLOCATE:
        put_32(line, ev->pl_u.pl_a.pl_pmcid);
        put_text(line, ev->pl_u.pl_a.pl_evname);
        put_text(line, ev->pl_u.pl_a.pl_clock);
        put_text(line, ev->pl_u.pl_a.pl_unit);
        put_64(line, ev->pl_u.pl_a.pl_period_ns);
        put_64(line, ev->pl_u.pl_a.pl_effective_period_ns);
        put_text(line, ev->pl_u.pl_a.pl_detail);
        put_texts(line, ev->pl_u.pl_a.pl_attributes, ev->pl_u.pl_a.pl_attribute_count);
        put_texts(line, ev->pl_u.pl_a.pl_values, ev->pl_u.pl_a.pl_value_count);
        put_text(line, ev->pl_u.pl_a.pl_counted_as);
        break;
    case PMCLOG_TYPE_PMCATTACH:
        put_32(line, ev->pl_u.pl_t.pl_pmcid);
        put_32(line, (uint32_t)ev->pl_u.pl_t.pl_pid);
        put_64(line, ev->pl_u.pl_t.pl_value);
        break;
    case PMCLOG_TYPE_PMCDETACH:
        put_32(line, ev->pl_u.pl_dt.pl_pmcid);
        put_32(line, (uint32_t)ev->pl_u.pl_dt.pl_pid);
        break;
    case PMCLOG_TYPE_PROCCSW:
        put_32(line, ev->pl_u.pl_c.pl_pmcid);
        put_32(line, (uint32_t)ev->pl_u.pl_c.pl_pid);
        put_64(line, ev->pl_u.pl_c.pl_value);
        put_32(line, ev->pl_u.pl_c.pl_voluntary);
        put_64(line, ev->pl_u.pl_c.pl_switches);
        break;
    case PMCLOG_TYPE_PROCEXEC:
        put_32(line, (uint32_t)ev->pl_u.pl_x.pl_pid);
        put_64(line, ev->pl_u.pl_x.pl_entryaddr);
        put_text(line, ev->pl_u.pl_x.pl_pathname);
        break;
    case PMCLOG_TYPE_PROCEXIT:
        put_32(line, (uint32_t)ev->pl_u.pl_e.pl_pid);
        put_32(line, ev->pl_u.pl_e.pl_pmcid);
        put_64(line, ev->pl_u.pl_e.pl_value);
        put_64(line, ev->pl_u.pl_e.pl_user_ns);
        put_64(line, ev->pl_u.pl_e.pl_system_ns);
        put_status(line, ev->pl_u.pl_e.pl_status);
        break;
    case PMCLOG_TYPE_PROCFORK:
        put_32(line, (uint32_t)ev->pl_u.pl_f.pl_oldpid);
        put_32(line, (uint32_t)ev->pl_u.pl_f.pl_newpid);
        break;
    case PMCLOG_TYPE_SYSEXIT:
        put_32(line, (uint32_t)ev->pl_u.pl_se.pl_pid);
        put_status(line, ev->pl_u.pl_se.pl_status);
        put_text(line, ev->pl_u.pl_se.pl_pathname);
        put_text(line, ev->pl_u.pl_se.pl_reason);
        break;
    case PMCLOG_TYPE_USERDATA:
        put_bytes(line, 'x', ev->pl_u.pl_u.pl_userdata, ev->pl_u.pl_u.pl_userdata_bytes);
        break;
    case PMCLOG_TYPE_SAMPLE:
        put_sample_point(line, &ev->pl_u.pl_sample);
        break;
    case PMCLOG_TYPE_PAUSE:
        put_32(line, ev->pl_u.pl_pause.pl_cause);
        break;
    case PMCLOG_TYPE_RESUME:
        put_32(line, ev->pl_u.pl_resume.pl_cause);
        break;
    case PMCLOG_TYPE_THR_CREATE:
        put_text(line, ev->pl_u.pl_thr_create.pl_name);
        put_64(line, ev->pl_u.pl_thr_create.pl_start_address);
        break;
    case PMCLOG_TYPE_THR_EXIT:
        put_text(line, ev->pl_u.pl_thr_exit.pl_name);
        put_64(line, ev->pl_u.pl_thr_exit.pl_user_ns);
        put_64(line, ev->pl_u.pl_thr_exit.pl_system_ns);
        put_32(line, ev->pl_u.pl_thr_exit.pl_is_exit);
        put_64(line, ev->pl_u.pl_thr_exit.pl_pending_ns);
        break;
    case PMCLOG_TYPE_METRIC:
        put_32(line, ev->pl_u.pl_metric.pl_pmcid);
        put_64(line, ev->pl_u.pl_metric.pl_interval_ns);
        put_metric_value(line, &ev->pl_u.pl_metric);
        break;
    case PMCLOG_TYPE_MESSAGE:
        put_32(line, ev->pl_u.pl_message.pl_severity);
        put_text(line, ev->pl_u.pl_message.pl_text);
        put_64(line, ev->pl_u.pl_message.pl_count);
        put_text(line, ev->pl_u.pl_message.pl_subject);
        break;
    case PMCLOG_TYPE_INTERPRETER:
        put_text(line, ev->pl_u.pl_interpreter.pl_name);
        put_text(line, ev->pl_u.pl_interpreter.pl_version);
        put_64(line, ev->pl_u.pl_interpreter.pl_start);
        put_64(line, ev->pl_u.pl_interpreter.pl_end);
        put_text(line, ev->pl_u.pl_interpreter.pl_detail);
        break;
    }
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
