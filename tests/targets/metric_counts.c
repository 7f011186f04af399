/* metric_counts.c -- a plugin whose values are known: `calls` is 1, 2, 3, ...; `one` came up by 1 each time; `half` spent half of the time in a state; customData is a number */
#include <stdlib.h>

#include "allinea_metric_plugin_api.h"

static uint64_t calls_so_far;
static double last_s;

static double seconds(struct timespec time)
{
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    last_s = seconds(allinea_get_current_time());
    return 0;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    return 0;
}

int calls(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    (void)metric_id, (void)time;
    *value = ++calls_so_far;
    return 0;
}

int one(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    (void)metric_id, (void)time;
    *value = 1;
    return 0;
}

int half(metric_id_t metric_id, struct timespec *time, double *value)
{
    double now_s = seconds(*time);
    (void)metric_id;
    *value = (now_s - last_s) / 2;
    last_s = now_s;
    return 0;
}

/* Takes 3 ms. */
int slow(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    double end_s = seconds(allinea_get_current_time()) + 0.003;
    (void)metric_id, (void)time;
    while (seconds(allinea_get_current_time()) < end_s)
        continue;
    *value = 1;
    return 0;
}

int custom(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    (void)time;
    *value = strtoull(allinea_get_custom_data(metric_id), NULL, 10);
    return 0;
}
