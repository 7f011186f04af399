/* allinea_metric_plugin_template.h -- the functions that every metric plugin defines */
#ifndef ALLINEA_METRIC_PLUGIN_TEMPLATE_H
#define ALLINEA_METRIC_PLUGIN_TEMPLATE_H

#include <time.h>

#include "allinea_metric_plugin_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Called once in a process, before main, on its main thread; for a plugin whose metrics are all of the onePerNode kind only in the process that reports
 * for the node. May do anything an ordinary function may. `data` is NULL. 0: all is well; -1: the plugin cannot work here, and has said why by
 * allinea_set_plugin_error_message.
 */
int allinea_plugin_initialize(plugin_id_t plugin_id, void *data);

/* Called when the program ends in order, after the last value was read. May do anything an ordinary function may. What it returns is not looked at. */
int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data);

/*
 * Getters have names of the plugin's choice and one of these forms. They are called in signal handlers, from any thread, never two at once:
 *
 *     int getter(metric_id_t id, struct timespec *in_out_sample_time, uint64_t *out_value);
 *     int getter(metric_id_t id, struct timespec *in_out_sample_time, double *out_value);
 *
 * The time is that of the sample, the same for all getters of it; a getter may set it to allinea_get_current_time(), unless the metric is backfilled.
 * 0: *out_value was written; else allinea_set_metric_error_message was called.
 * The optional functions start and stop of a definition file are int f(plugin_id_t); stop may be called in a signal handler.
 */

#ifdef __cplusplus
}
#endif

#endif
