/* builtin.c -- the built-in metrics, of the process and of the machine: an ordinary plugin, to be copied (docs/metric-plugins.md) */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "allinea_metric_plugin_api.h"
#include "allinea_metric_plugin_template.h"

/*
 * One library for all of them: to load one costs a process more than anything that is done here, and many processes live for a millisecond.
 */

/* The getters, as the definition file names them. */
int process_cpu_user(metric_id_t metric_id, struct timespec *in_out_sample_time, double *out_value);
int process_cpu_system(metric_id_t metric_id, struct timespec *in_out_sample_time, double *out_value);
int process_cpu_switches(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value);
int process_io_read(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value);
int process_io_written(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value);
int process_memory_resident(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value);
int node_load(metric_id_t metric_id, struct timespec *in_out_sample_time, double *out_value);
int node_memory(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value);

/* Getters that give the increment since they were last called: each remembers where it was then. */
static struct rusage last_user, last_system, last_switches;
static uint64_t last_read_bytes, last_written_bytes;

static uint64_t page_bytes;

/* ---- text of the kernel ---- */

/* A getter runs in a signal handler: it opens the file each time, because the program may close any descriptor it finds. */
static bool read_text(const char *path, char *text, size_t size)
{
    int fd = allinea_safe_open(path, O_RDONLY);
    ssize_t length = fd >= 0 ? allinea_safe_read(fd, text, size - 1) : -1;
    int error = errno;
    if (fd >= 0)
        allinea_safe_close(fd);
    errno = error;
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* What is not there, or not for us, will not come: the metric is not used again. */
static int give_up(metric_id_t metric_id, const char *what)
{
    allinea_set_metric_error_messagef(metric_id, errno, "%s cannot be read", what);
    return -1;
}

static const char *read_number(const char *at, uint64_t *number)
{
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return at;
}

/* The number behind a word and blanks; 0 without the word. */
static uint64_t number_after(const char *text, const char *word)
{
    uint64_t number = 0;
    const char *at = strstr(text, word);
    if (at != NULL)
        read_number(at + strlen(word) + strspn(at + strlen(word), " "), &number);
    return number;
}

/* ---- CPU time and context switches of the process ---- */

/* Reads anew, and gives what was read before. In a fork child the account begins again: then the increment is 0. */
static int renew(metric_id_t metric_id, struct rusage *last, struct rusage *before)
{
    *before = *last;
    return getrusage(RUSAGE_SELF, last) == 0 ? 0 : give_up(metric_id, "getrusage");
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

/* ---- bytes that the process reads and writes by system calls ---- */

#define IO "/proc/self/io"

/* The recorder's word for what it and all plugins have moved, which is not the program's doing. Not part of the plugin interface, so it may be missing. */
extern void collector_own_io(uint64_t *read_bytes, uint64_t *written_bytes) __attribute__((weak));

/* Since the process began, without our own. */
struct account {
    uint64_t read_bytes, written_bytes;
};

static bool read_account(struct account *account)
{
    char text[256];
    uint64_t own_read_bytes = 0, own_written_bytes = 0;
    if (collector_own_io != NULL)
        collector_own_io(&own_read_bytes, &own_written_bytes);
    if (!read_text(IO, text, sizeof text))
        return false;
    account->read_bytes = number_after(text, "rchar:") - own_read_bytes;
    account->written_bytes = number_after(text, "wchar:") - own_written_bytes;
    return true;
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
    if (!read_account(&account))
        return give_up(metric_id, IO);
    *out_value = passed(&last_read_bytes, account.read_bytes);
    return 0;
}

int process_io_written(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value)
{
    struct account account;
    (void)in_out_sample_time;
    if (!read_account(&account))
        return give_up(metric_id, IO);
    *out_value = passed(&last_written_bytes, account.written_bytes);
    return 0;
}

/* ---- memory of the process ---- */

#define STATM "/proc/self/statm" /* "size resident shared ...", in pages */

int process_memory_resident(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value)
{
    char text[128];
    uint64_t pages;
    (void)in_out_sample_time;
    if (!read_text(STATM, text, sizeof text))
        return give_up(metric_id, STATM);
    const char *at = read_number(text, &pages);
    read_number(at + (*at == ' '), &pages);
    *out_value = pages * page_bytes;
    return 0;
}

/* ---- the whole machine, told by one of its processes ---- */

#define LOADAVG "/proc/loadavg"
#define MEMINFO "/proc/meminfo"

/* Threads that run or wait to run, averaged over a minute: the first number, with two decimals. */
int node_load(metric_id_t metric_id, struct timespec *in_out_sample_time, double *out_value)
{
    char text[64];
    uint64_t whole, hundredths = 0;
    (void)in_out_sample_time;
    if (!read_text(LOADAVG, text, sizeof text))
        return give_up(metric_id, LOADAVG);
    const char *at = read_number(text, &whole);
    if (*at == '.')
        read_number(at + 1, &hundredths);
    *out_value = (double)whole + (double)hundredths / 100;
    return 0;
}

int node_memory(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value)
{
    char text[192]; /* MemTotal, MemFree, MemAvailable are the first lines */
    (void)in_out_sample_time;
    if (!read_text(MEMINFO, text, sizeof text))
        return give_up(metric_id, MEMINFO);
    *out_value = (number_after(text, "MemTotal:") - number_after(text, "MemAvailable:")) * 1024;
    return 0;
}

/* ---- the beginning and the end ---- */

/* Ordinary code, before the program begins: from here on is counted. What cannot be read is told by its getter, so that the other metrics go on. */
int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    struct account account;
    (void)data;
    if (getrusage(RUSAGE_SELF, &last_user) != 0) {
        allinea_set_plugin_error_messagef(plugin_id, errno, "getrusage fails: %s", strerror(errno));
        return -1;
    }
    last_system = last_switches = last_user;
    if (read_account(&account)) {
        last_read_bytes = account.read_bytes;
        last_written_bytes = account.written_bytes;
    }
    page_bytes = getauxval(AT_PAGESZ); /* sysconf would touch two pages of the C library more */
    return 0;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id;
    (void)data;
    return 0;
}
