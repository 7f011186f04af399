/* metric_host.h -- a process beside the recorded ones that reads the metrics of the machine */
#ifndef COL_CONTROL_METRIC_HOST_H
#define COL_CONTROL_METRIC_HOST_H

#include <stdint.h>

/*
 * The launcher starts it: a plugin of the machine needs nothing of the program, so it is neither loaded into it nor able to harm it. Its readings are a log
 * like any other, node.log of the experiment, with the note of the call in progress (experiment/call_note.h) in case a plugin crashes or never returns.
 */
struct col_metric_host {
    const char *experiment;    /* directory */
    const char *table;         /* of metrics (sample/metric_table.h); those of the machine are read */
    uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC window of recording; 0, UINT64_MAX: none */
    int end;                   /* a pipe: recording ends when its last writer closes it */
};

/* Reads until the end, in this thread, as ordinary code. Once a process, and not in a recorded one. 0, or -errno if no log can be written. */
int col_metric_host_run(const struct col_metric_host *host);

#endif
