/* process_io.c -- bytes that the process reads and writes by system calls */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "allinea_metric_plugin_api.h"
#include "allinea_metric_plugin_template.h"

/* The getters, as the definition file names them. */
int process_io_read(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value);
int process_io_written(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value);

#define IO "/proc/self/io"

/* The recorder's word for what it and all plugins have moved, which is not the program's doing. Not part of the plugin interface, so it may be missing. */
extern void collector_own_io(uint64_t *read_bytes, uint64_t *written_bytes) __attribute__((weak));

/* Since the process began, without our own. */
struct account {
    uint64_t read_bytes, written_bytes;
};

/* What was told at the last call of each getter. */
static uint64_t last_read_bytes, last_written_bytes;

static uint64_t number_after(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    uint64_t number = 0;
    for (at = at != NULL ? at + strlen(word) : ""; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

static int read_account(struct account *account)
{
    char text[256];
    uint64_t own_read_bytes = 0, own_written_bytes = 0;
    if (collector_own_io != NULL)
        collector_own_io(&own_read_bytes, &own_written_bytes);
    int fd = allinea_safe_open(IO, O_RDONLY);
    ssize_t length = fd >= 0 ? allinea_safe_read(fd, text, sizeof text - 1) : -1;
    int error = errno;
    if (fd >= 0)
        allinea_safe_close(fd);
    if (length <= 0) {
        errno = error;
        return -1;
    }
    text[length] = '\0';
    account->read_bytes = number_after(text, "rchar: ") - own_read_bytes;
    account->written_bytes = number_after(text, "wchar: ") - own_written_bytes;
    return 0;
}

int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    struct account account;
    (void)data;
    if (read_account(&account) != 0) {
        allinea_set_plugin_error_messagef(plugin_id, errno, "%s cannot be read: %s", IO, strerror(errno));
        return -1;
    }
    last_read_bytes = account.read_bytes;
    last_written_bytes = account.written_bytes;
    return 0;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id;
    (void)data;
    return 0;
}

/* In a fork child the account begins again, below what was told last. */
static uint64_t passed(uint64_t *last, uint64_t now)
{
    uint64_t bytes = now > *last ? now - *last : 0;
    *last = now;
    return bytes;
}

int process_io_read(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value)
{
    struct account account;
    (void)in_out_sample_time;
    if (read_account(&account) != 0) {
        allinea_set_metric_error_message(metric_id, errno, IO " cannot be read any more");
        return -1;
    }
    *out_value = passed(&last_read_bytes, account.read_bytes);
    return 0;
}

int process_io_written(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value)
{
    struct account account;
    (void)in_out_sample_time;
    if (read_account(&account) != 0) {
        allinea_set_metric_error_message(metric_id, errno, IO " cannot be read any more");
        return -1;
    }
    *out_value = passed(&last_written_bytes, account.written_bytes);
    return 0;
}
