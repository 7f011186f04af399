/* metric_node.c -- a plugin of the node: each process that initialises it prints "leader PID"; its value is the PID of the process that reads it */
#include <unistd.h>

#include "allinea_metric_plugin_api.h"

int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    allinea_safe_printf("leader %d\n", (int)getpid());
    return 0;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    allinea_safe_printf("cleanup %d\n", (int)getpid());
    return 0;
}

int reader(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    (void)metric_id, (void)time;
    *value = (uint64_t)getpid();
    return 0;
}
