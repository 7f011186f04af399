/* process_memory.c -- memory of the process: the plugin to copy (docs/metric-plugins.md explains it line by line) */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "allinea_metric_plugin_api.h"
#include "allinea_metric_plugin_template.h"

/* The getters, as the definition file names them. */
int process_memory_resident(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value);

/* "size resident shared ...", in pages. */
#define STATM "/proc/self/statm"

static uint64_t page_bytes;

/* Ordinary code: what may fail is found out here, before the program begins. */
int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    (void)data;
    if (access(STATM, R_OK) != 0) {
        allinea_set_plugin_error_messagef(plugin_id, errno, "%s cannot be read: %s", STATM, strerror(errno));
        return -1;
    }
    page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    return 0;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id;
    (void)data;
    return 0;
}

static const char *skip_number(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* A getter runs in a signal handler: it opens the file each time, because the program may close any descriptor it finds. */
int process_memory_resident(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value)
{
    char text[128];
    (void)in_out_sample_time;
    int fd = allinea_safe_open(STATM, O_RDONLY);
    ssize_t length = fd >= 0 ? allinea_safe_read_line(fd, text, sizeof text) : -1;
    int error = errno;
    if (fd >= 0)
        allinea_safe_close(fd);
    if (length <= 0) {
        allinea_set_metric_error_message(metric_id, error, STATM " cannot be read any more");
        return -1;
    }
    uint64_t pages = 0;
    const char *at = skip_number(text);
    for (at += *at == ' '; *at >= '0' && *at <= '9'; at++)
        pages = pages * 10 + (uint64_t)(*at - '0');
    *out_value = pages * page_bytes;
    return 0;
}
