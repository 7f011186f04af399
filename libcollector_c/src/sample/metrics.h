/* metrics.h -- when the getters of metrics are called, and what becomes of their values */
#ifndef COL_SAMPLE_METRICS_H
#define COL_SAMPLE_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "sample/metric_table.h"

/*
 * Getters are called at sample times, every interval of wall time, which is doubled each time READINGS_AN_INTERVAL sample times were kept: a long run costs
 * and stores little more than a short one. All of it on whatever thread was sampled, with the turn of plugin_call.h.
 */

/*
 * From here on getters are called. `start_ns` is now; 0: nobody knows since when plugins count, as in a fork child. is_recording: not paused.
 * Ordinary code, with no turn.
 */
void col_metrics_open(uint64_t start_ns, bool is_recording);

/* Getters are called by ordinary code only, and at the end, from here on. */
void col_metrics_keep_off_ticks(void);

/* A sample was taken on this thread, in the handler of a clock's signal: whether getters are due, and may be called on top of what was interrupted. */
bool col_metrics_note_sample(uint64_t time_ns, const ucontext_t *context);

/* Calls getters that are due. In a clock's handler, between enter and leave, where note_sample allows it; or from ordinary code. */
void col_metrics_tick(uint64_t time_ns);

/* When a tick will next call getters; UINT64_MAX: never. From anywhere. */
uint64_t col_metrics_due(void);

/* Recording was interrupted: increments meanwhile are not to be seen. From anywhere. */
void col_metrics_break(void);

/* The last reading (if is_recording), stop functions, backfill. From anywhere; after it no getter is called until the next open. */
void col_metrics_close(bool is_recording);

/* Around fork: no getter is at work while memory is copied. In the child all is closed. */
void col_metrics_fork_prepare(void);
void col_metrics_fork_parent(void);
void col_metrics_fork_child(void);

#endif
