/* metric_host.c -- what the launcher calls to have the metrics of the machine read */
#include "entry/interpose.h"

#include <stdint.h>

#include "control/metric_host.h"

/* Not part of the API: collector/capture/native.py is the only caller. 0 or -errno. */
COL_EXPORT int collector_host_metrics(const char *experiment, const char *table, uint64_t start_ns, uint64_t end_ns,
                                      int end);

COL_EXPORT int collector_host_metrics(const char *experiment, const char *table, uint64_t start_ns, uint64_t end_ns,
                                      int end)
{
    return col_metric_host_run(&(struct col_metric_host){
        .experiment = experiment, .table = table, .start_ns = start_ns, .end_ns = end_ns, .end = end});
}
