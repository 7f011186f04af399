/* experiment_kinds.c -- writes one record of every kind: field i of kind k holds k * 1000 + i, or that as text */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/event.h"
#include "experiment/log_writer.h"
#include "experiment/open_frame.h"

#define N(kind, field) ((kind)*1000u + (field))
#define HEAD(kind) ((struct col_event_head){(uint64_t)(kind) << 40, (kind) + 70000u})

static void write_processes(void)
{
    const char *arguments[] = {"3012", "", "a\xff\x01"}, *options[] = {"3014=x"};
    struct col_event_initialize initialize = {
        .wall_ns = N(3, 2), .pid = N(3, 3), .ppid = N(3, 4), .image = N(3, 5), .host = "3006", .machine = "3007", .kernel = "3008", .cpu_count = N(3, 9), .page_bytes = N(3, 10),
        .executable = "3011", .arguments = arguments, .argument_count = 3, .directory = "3013", .options = options, .option_count = 1, .library_version = "3015", .uid = N(3, 16),
        .user_ns = N(3, 17), .system_ns = N(3, 18), .start_ticks = N(3, 19), .pid_namespace = N(3, 20), .rank = N(3, 21), .local_rank = N(3, 22)};
    int status = -9;
    col_event_initialize(HEAD(3), &initialize);
    col_event_procexec(HEAD(10), N(10, 0), N(10, 1), "10002");
    col_event_procexit(HEAD(11), &(struct col_event_procexit){.pid = N(11, 0), .source = N(11, 1), .value = N(11, 2), .user_ns = N(11, 3), .system_ns = N(11, 4), .has_status = true, .status = N(11, 5)});
    col_event_procexit(HEAD(11), &(struct col_event_procexit){.pid = N(11, 0), .source = N(11, 1), .value = N(11, 2), .user_ns = N(11, 3), .system_ns = N(11, 4)});
    col_event_procfork(HEAD(12), N(12, 0), N(12, 1));
    col_event_sysexit(HEAD(13), N(13, 0), &status, "13002", "13003");
    col_event_sysexit(HEAD(13), N(13, 0), NULL, NULL, "13003");
    col_event_thr_create(HEAD(35), "35000", N(35, 1));
    col_event_thr_exit(HEAD(36), "36000", N(36, 1), N(36, 2), N(36, 4), true);
}

static void write_mappings(void)
{
    static const char code[2000] = "code"; /* more than a handler's stack takes */
    struct col_event_mappingchange change = {
        .action = N(4, 0), .map_kind = N(4, 1), .start = N(4, 2), .end = N(4, 3), .bias = UINT64_MAX - N(4, 4), .file_offset = N(4, 5), .path = "4006", .build_id = "4007", .build_id_bytes = 4,
        .name = "4008", .alias = "4009", .source = "4010", .lines = "4011", .lines_bytes = 4, .code = code, .code_bytes = sizeof code, .copy = "4013",
        .has_file = true, .file_bytes = N(4, 14), .file_changed_ns = N(4, 15), .text_checksum = N(4, 16), .first_line = N(4, 17), .line_table = N(4, 18)};
    struct col_event_mappingchange least = {.action = 2, .start = 1, .end = 2};
    col_event_mappingchange(HEAD(4), &change);
    col_event_mappingchange(HEAD(4), &least);
}

static void write_sources(void)
{
    struct col_event_pmcallocate allocate = {
        .source = N(6, 0), .name = "6001", .clock = "6002", .unit = "6003", .period_ns = N(6, 4), .effective_period_ns = N(6, 5), .detail = "6006",
        .attributes = (const char *const[]){"6007=x"}, .attribute_count = 1,
        .values = (const char *const[]){"6008 ns", "more"}, .value_count = 2, .counted_as = "6009"};
    const struct col_event_value values[] = {{COL_EVENT_WHOLE, {.whole = N(37, 2)}}, {COL_EVENT_NO_VALUE, {0}}, {COL_EVENT_REAL, {.real = -0.125}}, {COL_EVENT_REAL, {.real = 0.1}}};
    struct col_event_metric metric = {.source = N(37, 0), .interval_ns = N(37, 1), .values = values, .value_count = 1};
    col_event_pmcallocate(HEAD(6), &allocate);
    col_event_pmcattach(HEAD(7), N(7, 0), N(7, 1), N(7, 2));
    col_event_pmcdetach(HEAD(8), N(8, 0), N(8, 1));
    col_event_metric(HEAD(37), &metric);
    metric.value_count = 4;
    col_event_metric(HEAD(37), &metric);
    col_event_metrics_flush();
}

static void write_marks(void)
{
    struct col_event_sample sample = {
        .label = "32000", .cause = N(32, 1), .pid = N(32, 2), .user_ns = N(32, 3), .system_ns = N(32, 4), .minor_faults = N(32, 5), .major_faults = N(32, 6),
        .voluntary_switches = N(32, 7), .involuntary_switches = N(32, 8), .resident_bytes = N(32, 9), .read_bytes = N(32, 10), .written_bytes = COL_EVENT_UNKNOWN};
    col_event_sample(HEAD(32), &sample);
    col_event_pause(HEAD(33), N(33, 0));
    col_event_resume(HEAD(34), N(34, 0));
    col_event_userdata(HEAD(14), "data\0more", 9);
    col_event_message(HEAD(38), N(38, 0), "38001", N(38, 2), NULL);
    col_event_interpreter(HEAD(39), "39000", "39001", N(39, 2), N(39, 3), "39004");
    col_event_dropnotify(HEAD(2), N(2, 0), UINT64_MAX);
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
    write_processes();
    col_event_batch_begin();
    write_mappings();
    write_sources();
    col_event_batch_finish();
    write_marks();
    write_samples();
    col_log_writer_counts(&frame_count, &byte_count);
    struct col_event_closelog closelog = {
        .reason = N(1, 0), .sample_count = col_open_frame_sample_count(), .frame_count = frame_count, .drop_count = N(1, 3), .user_ns = N(1, 4), .system_ns = N(1, 5)};
    col_event_closelog(HEAD(1), &closelog);
    col_log_writer_close();
    return 0;
}
