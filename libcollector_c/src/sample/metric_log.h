/* metric_log.h -- values of metrics on their way to the log */
#ifndef COL_SAMPLE_METRIC_LOG_H
#define COL_SAMPLE_METRIC_LOG_H

#include "experiment/event.h"
#include "sample/metric_table.h"

/* With the turn of plugin_call.h, from anywhere. */

/* The metric's place among the table's `values`. What lies there goes into the log with the next write; its time and interval are in the metric. */
struct col_event_value *col_metric_log_value(const struct col_metric *metric);

/* All values there are, of these metrics, go to the log, or are lost. A metric that the log does not know yet is defined before its first one. */
void col_metric_log_write(struct col_metric *first, struct col_metric *end);

/* Nothing more will be said of metrics. */
void col_metric_log_close(void);

#endif
