/* process_cpu.c -- CPU time and context switches of the process */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "allinea_metric_plugin_api.h"
#include "allinea_metric_plugin_template.h"

/* The getters, as the definition file names them. */
int process_cpu_user(metric_id_t metric_id, struct timespec *in_out_sample_time, double *out_value);
int process_cpu_system(metric_id_t metric_id, struct timespec *in_out_sample_time, double *out_value);
int process_cpu_switches(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value);

/* Getters give what came up since they were last called; each has its own. */
static struct rusage last_user, last_system, last_switches;

int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    (void)data;
    if (getrusage(RUSAGE_SELF, &last_user) != 0) {
        allinea_set_plugin_error_messagef(plugin_id, errno, "getrusage fails: %s", strerror(errno));
        return -1;
    }
    last_system = last_switches = last_user;
    return 0;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id;
    (void)data;
    return 0;
}

/* Reads anew, and gives what was read before. In a fork child the account begins again: then that is nothing. */
static int renew(metric_id_t metric_id, struct rusage *last, struct rusage *before)
{
    *before = *last;
    if (getrusage(RUSAGE_SELF, last) != 0) {
        allinea_set_metric_error_message(metric_id, errno, "getrusage fails");
        return -1;
    }
    return 0;
}

static double seconds(struct timeval before, struct timeval now)
{
    double passed = (double)(now.tv_sec - before.tv_sec) + (double)(now.tv_usec - before.tv_usec) * 1e-6;
    return passed > 0 ? passed : 0;
}

int process_cpu_user(metric_id_t metric_id, struct timespec *in_out_sample_time, double *out_value)
{
    struct rusage before;
    (void)in_out_sample_time;
    if (renew(metric_id, &last_user, &before) != 0)
        return -1;
    *out_value = seconds(before.ru_utime, last_user.ru_utime);
    return 0;
}

int process_cpu_system(metric_id_t metric_id, struct timespec *in_out_sample_time, double *out_value)
{
    struct rusage before;
    (void)in_out_sample_time;
    if (renew(metric_id, &last_system, &before) != 0)
        return -1;
    *out_value = seconds(before.ru_stime, last_system.ru_stime);
    return 0;
}

int process_cpu_switches(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value)
{
    struct rusage before;
    (void)in_out_sample_time;
    if (renew(metric_id, &last_switches, &before) != 0)
        return -1;
    long passed = last_switches.ru_nvcsw + last_switches.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
    *out_value = passed > 0 ? (uint64_t)passed : 0;
    return 0;
}
