/* process_reading.c -- what the process has used so far */
#include "sample/process_reading.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/own_io.h"
#include "base/status_file.h"

#define US_NS 1000u
#define S_NS 1000000000u

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * S_NS + (uint64_t)time.tv_usec * US_NS;
}

/* A small file of /proc as text; empty if it cannot be read. */
static void read_text(const char *path, char *text, size_t bytes)
{
    int fd = col_os_open(path, O_RDONLY, 0);
    ssize_t length = fd < 0 ? -1 : col_os_read(fd, text, bytes - 1);
    if (fd >= 0)
        col_os_close(fd);
    text[length > 0 ? length : 0] = '\0';
}

/* The number behind `name`; unknown if it is not there. */
static uint64_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    if (at == NULL)
        return COL_EVENT_UNKNOWN;
    uint64_t number = 0;
    for (at += strlen(name); *at == ' '; at++)
        continue;
    if (*at < '0' || *at > '9')
        return COL_EVENT_UNKNOWN;
    for (; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

/* What metric plugins and these readings move is not the program's. */
static uint64_t less_own(uint64_t bytes, uint64_t own_bytes)
{
    return bytes == COL_EVENT_UNKNOWN ? bytes : bytes > own_bytes ? bytes - own_bytes : 0;
}

static void read_usage(struct col_event_sample *sample)
{
    struct rusage usage;
    if (col_arch_syscall(SYS_getrusage, RUSAGE_SELF, (long)&usage, 0, 0, 0, 0) != 0)
        return;
    sample->user_ns = ns_of(usage.ru_utime);
    sample->system_ns = ns_of(usage.ru_stime);
    sample->minor_faults = (uint64_t)usage.ru_minflt;
    sample->major_faults = (uint64_t)usage.ru_majflt;
    sample->voluntary_switches = (uint64_t)usage.ru_nvcsw;
    sample->involuntary_switches = (uint64_t)usage.ru_nivcsw;
}

static uint64_t bytes_of_kib(uint64_t kib)
{
    return kib == COL_EVENT_UNKNOWN ? kib : kib * 1024;
}

/* Both from one file, although /proc/self/statm is cheaper for the first alone: to open one more costs a process that ends soon as
   much again. */
static void read_memory(struct col_event_sample *sample)
{
    static const char *const paths[] = {COL_STATUS_OF_FIRST_THREAD, COL_STATUS_OF_THREAD};
    char text[COL_STATUS_BYTES];
    sample->resident_bytes = COL_EVENT_UNKNOWN;
    for (unsigned i = 0; i < 2 && sample->resident_bytes == COL_EVENT_UNKNOWN; i++) {
        col_status_file_read(paths[i], text);
        sample->peak_resident_bytes = bytes_of_kib(number_after(text, "\nVmHWM:\t"));
        sample->resident_bytes = bytes_of_kib(number_after(text, "\nVmRSS:\t"));
    }
}

static void read_traffic(struct col_event_sample *sample)
{
    char text[512];
    uint64_t own_read_bytes = col_own_io_read_bytes(),
             own_written_bytes = col_own_io_written_bytes(); /* this reading is not yet in either account */
    read_text("/proc/self/io", text, sizeof text);
    sample->read_bytes = less_own(number_after(text, "rchar:"), own_read_bytes);
    sample->written_bytes = less_own(number_after(text, "wchar:"), own_written_bytes);
}

void col_process_reading_take(struct col_event_sample *sample)
{
    read_usage(sample);
    read_memory(sample);
    read_traffic(sample);
}

void col_process_reading_take_new_image(struct col_event_sample *sample)
{
    read_usage(sample);
    sample->resident_bytes = sample->peak_resident_bytes = COL_EVENT_UNKNOWN;
    read_traffic(sample);
}

void col_process_reading_take_newborn(struct col_event_sample *sample)
{
    read_usage(sample);
    sample->resident_bytes = sample->peak_resident_bytes = COL_EVENT_UNKNOWN;
}
