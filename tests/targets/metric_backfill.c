/* metric_backfill.c -- a plugin whose values are asked for at the end: `filled` is the ms since start of the time it is asked for, `meddling` changes that time; `live` is an ordinary metric beside them */
#include "allinea_metric_plugin_api.h"

static struct timespec started, stopped;

static double ms_since_start(const struct timespec *time)
{
    return (double)(time->tv_sec - started.tv_sec) * 1e3 + (double)(time->tv_nsec - started.tv_nsec) * 1e-6;
}

int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    return 0;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    return 0;
}

int start_profiling(plugin_id_t plugin_id)
{
    (void)plugin_id;
    started = allinea_get_current_time();
    return 0;
}

int stop_profiling(plugin_id_t plugin_id)
{
    (void)plugin_id;
    stopped = allinea_get_current_time();
    return 0;
}

int live(metric_id_t metric_id, struct timespec *time, double *value)
{
    (void)metric_id;
    *value = ms_since_start(time);
    return 0;
}

int filled(metric_id_t metric_id, struct timespec *time, double *value)
{
    if (stopped.tv_sec == 0)
        allinea_set_metric_error_message(metric_id, 0, "asked before sampling had stopped");
    *value = ms_since_start(time);
    return 0;
}

int meddling(metric_id_t metric_id, struct timespec *time, double *value)
{
    (void)metric_id;
    *time = allinea_get_current_time();
    *value = 1;
    return 0;
}
