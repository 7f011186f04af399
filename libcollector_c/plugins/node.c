/* node.c -- load and memory of the whole machine, told by one of its processes */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "allinea_metric_plugin_api.h"
#include "allinea_metric_plugin_template.h"

/* The getters, as the definition file names them. */
int node_load(metric_id_t metric_id, struct timespec *in_out_sample_time, double *out_value);
int node_memory(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value);

#define LOADAVG "/proc/loadavg"
#define MEMINFO "/proc/meminfo"

int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    (void)data;
    if (access(LOADAVG, R_OK) != 0 || access(MEMINFO, R_OK) != 0) {
        allinea_set_plugin_error_messagef(plugin_id, errno, "%s or %s cannot be read: %s", LOADAVG, MEMINFO, strerror(errno));
        return -1;
    }
    return 0;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id;
    (void)data;
    return 0;
}

/* The beginning of a file as text. */
static int read_text(metric_id_t metric_id, const char *path, char *text, size_t size)
{
    int fd = allinea_safe_open(path, O_RDONLY);
    ssize_t length = fd >= 0 ? allinea_safe_read(fd, text, size - 1) : -1;
    int error = errno;
    if (fd >= 0)
        allinea_safe_close(fd);
    if (length <= 0) {
        allinea_set_metric_error_messagef(metric_id, error, "%s cannot be read any more", path);
        return -1;
    }
    text[length] = '\0';
    return 0;
}

static const char *read_number(const char *at, uint64_t *number)
{
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return at;
}

/* Threads that run or wait to run, averaged over a minute: the first number, with two decimals. */
int node_load(metric_id_t metric_id, struct timespec *in_out_sample_time, double *out_value)
{
    char text[64];
    uint64_t whole, hundredths = 0;
    (void)in_out_sample_time;
    if (read_text(metric_id, LOADAVG, text, sizeof text) != 0)
        return -1;
    const char *at = read_number(text, &whole);
    if (*at == '.')
        read_number(at + 1, &hundredths);
    *out_value = (double)whole + (double)hundredths / 100;
    return 0;
}

static uint64_t kib_after(const char *text, const char *word)
{
    uint64_t number = 0;
    const char *at = strstr(text, word);
    if (at != NULL)
        read_number(at + strlen(word) + strspn(at + strlen(word), " "), &number);
    return number;
}

int node_memory(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value)
{
    char text[192]; /* MemTotal, MemFree, MemAvailable are the first lines */
    (void)in_out_sample_time;
    if (read_text(metric_id, MEMINFO, text, sizeof text) != 0)
        return -1;
    *out_value = (kib_after(text, "MemTotal:") - kib_after(text, "MemAvailable:")) * 1024;
    return 0;
}
