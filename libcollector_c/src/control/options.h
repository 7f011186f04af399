/* options.h -- what the environment asks of the recorder */
#ifndef COL_CONTROL_OPTIONS_H
#define COL_CONTROL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "sample/clock_source.h"

#define COL_OPTIONS_NODE_READER                                                                                        \
    "COLLECTOR_NODE_READER" /* set by the launcher, or by the first process: the process that reads the metrics of the machine */

struct col_options {
    const char *experiment;    /* directory; NULL: record nothing */
    const char *text;          /* COLLECTOR_OPTIONS as given, "" if absent */
    enum col_clock_kind clock; /* asked for; AUTO tries them in order */
    uint64_t period_ns;
    uint64_t start_ns, end_ns;  /* CLOCK_MONOTONIC window of recording; 0, UINT64_MAX: none */
    int64_t monotonic_ahead_ns; /* the launcher's clocks, of the machine's */
    int64_t boottime_ahead_ns;
    int64_t wall_offset_ns; /* CLOCK_REALTIME and CLOCK_BOOTTIME, of its CLOCK_MONOTONIC */
    int64_t boottime_offset_ns;
    int sample_signal;        /* 0: none */
    int pause_signal;         /* 0: none */
    bool is_paused;           /* begin paused */
    const char *events;       /* as sample/overflow.h takes them; NULL: none */
    unsigned counters;        /* bits of sample/thread_counters.h, */
    bool has_exact_waits;     /* each wait is told with its stack */
    const char *counted;      /* and events of sample/counter_group.h; NULL: none */
    const char *ranks;        /* to be recorded, as --ranks has them with + for commas; NULL: all */
    const char *rank_periods; /* of those that have their own, as col_rank_number takes them; NULL: none */
    bool is_followed;         /* this process is to be recorded, as COLLECTOR_FOLLOW and root= say */
};

/* Reads COLLECTOR_EXPERIMENT, COLLECTOR_OPTIONS and COLLECTOR_FOLLOW. The strings are copies that stay.
 * Words it does not know are passed over: a newer launcher may be at work. Ordinary code only. */
void col_options_read(struct col_options *options);

/* True if a descendant that runs `program` (NULL: the program this process runs now) is to be recorded. Signal-safe unless the rule is a regular expression. */
bool col_options_follow(const char *program);

#endif
