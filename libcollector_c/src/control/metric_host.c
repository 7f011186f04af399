/* metric_host.c -- a process beside the recorded ones that reads the metrics of the machine */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/metric_host.h"

#include <poll.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/real.h"
#include "control/plugins.h"
#include "experiment/event.h"
#include "experiment/log_writer.h"
#include "experiment/messages.h"
#include "sample/metric_table.h"
#include "sample/metrics.h"
#include "sample/recording.h"
#include "target/own_beginning.h"

#define LOG_NAME "node.log"
#define S_NS 1000000000u

static void write_totals(void)
{
    uint64_t byte_count;
    struct col_event_closelog totals = {.reason = COL_CLOSE_EXIT};
    col_clock_process_times(&totals.user_ns, &totals.system_ns);
    col_log_writer_counts(&totals.frame_count, &byte_count);
    col_event_closelog((struct col_event_head){col_clock_now(), 0}, &totals);
}

/* Waits for the end until a moment of CLOCK_MONOTONIC; true: it has come. */
static bool await_end(int end, uint64_t until_ns)
{
    uint64_t now_ns = col_clock_now(), wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct timespec timeout = {(time_t)(wait_ns / S_NS), (long)(wait_ns % S_NS)};
    struct pollfd pipe = {.fd = end, .events = POLLIN};
    return ppoll(&pipe, 1, &timeout, NULL) > 0;
}

static void read_until_end(int end)
{
    uint64_t next_ns = col_metrics_due(), interval_ns = col_metric_table()->interval_ns;
    while (!await_end(end, next_ns)) {
        uint64_t time_ns = col_clock_now();
        bool is_on = col_recording_is_on_at(time_ns);
        if (is_on)
            col_metrics_tick(time_ns);
        else
            col_metrics_break();
        next_ns = is_on ? col_metrics_due() : time_ns + interval_ns;
    }
}

int col_metric_host_run(const struct col_metric_host *host)
{
    col_real_resolve();
    int error = col_log_writer_open_named(host->experiment, LOG_NAME, getpid());
    if (error != 0)
        return error;
    col_own_beginning_write();
    col_recording_limit(host->start_ns, host->end_ns);
    col_recording_set(COL_RECORDING_ON);
    col_plugins_load(host->table, COL_METRICS_OF_NODE);
    col_plugins_begin(false, col_recording_is_on_at(col_clock_now()));
    read_until_end(host->end);
    col_log_writer_begin_end();
    col_plugins_finish();
    col_recording_set(COL_RECORDING_CLOSED);
    col_messages_write_counts();
    write_totals();
    col_log_writer_close();
    return 0;
}
