/* metric_untidy.c -- a plugin whose functions leave an error in errno and one for dlerror */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "allinea_metric_plugin_api.h"

static int leave_errors(int error)
{
    dlopen("/nonexistent/library.so", RTLD_NOW);
    errno = error;
    return 0;
}

int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    return leave_errors(EDOM);
}

int start(plugin_id_t plugin_id)
{
    (void)plugin_id;
    return leave_errors(ERANGE);
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    return leave_errors(EILSEQ);
}

int get(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value)
{
    (void)metric_id, (void)in_out_sample_time;
    errno = ENOMSG;
    *out_value = 1;
    return 0;
}
