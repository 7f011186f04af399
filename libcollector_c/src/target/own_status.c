/* own_status.c -- what the kernel tells a thread of itself */
#include "target/own_status.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/status_file.h"
#include "experiment/event.h"

#define NAME_FIELD 2
#define START_FIELD 22
#define FIRST_TIME_NAMESPACE 0xEFFFFFFAu /* PROC_TIME_INIT_INO of Linux: the machine's own */

static uint64_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    uint64_t number = 0;
    for (at = at != NULL ? at + strlen(name) : ""; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

static void read_text(const char *path, char *text, size_t bytes)
{
    int fd = col_os_open(path, O_RDONLY, 0);
    ssize_t length = fd < 0 ? 0 : col_os_read(fd, text, bytes - 1);
    if (fd >= 0)
        col_os_close(fd);
    text[length > 0 ? length : 0] = '\0';
}

struct col_own_status col_own_status_read(void)
{
    char text[COL_STATUS_BYTES];
    col_status_file_read(COL_STATUS_OF_THREAD, text);
    uint32_t filter_count = (uint32_t)number_after(text, "\nSeccomp_filters:\t");
    if (filter_count == 0 && number_after(text, "\nSeccomp:\t") != 0)
        filter_count = 1;
    return (struct col_own_status){(uint32_t)number_after(text, "\nTracerPid:\t"), filter_count};
}

/*
 * The inode of a namespace of /proc/self/ns; COL_EVENT_UNKNOWN if that is not there. stat(2) would tell the same at twice the price:
 * it follows the link.
 */
static uint64_t namespace_at(const char *path)
{
    char link[64]; /* as "pid:[4026531836]" */
    ssize_t length = col_os_read_link(path, link, sizeof link - 1);
    link[length > 0 ? length : 0] = '\0';
    uint64_t inode = number_after(link, "[");
    return inode != 0 ? inode : COL_EVENT_UNKNOWN;
}

struct col_own_birth col_own_status_birth(void)
{
    struct col_own_birth birth = {COL_EVENT_UNKNOWN, namespace_at("/proc/self/ns/pid")};
    char text[512];
    read_text("/proc/self/stat", text, sizeof text);
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = NAME_FIELD; at != NULL && field < START_FIELD; field++)
        at = strchr(at + 1, ' ');
    if (at != NULL)
        birth.start_ticks = number_after(at, " ");
    return birth;
}

static int64_t signed_number_at(const char **text)
{
    *text += strspn(*text, " ");
    bool is_negative = **text == '-';
    int64_t number = 0;
    for (*text += is_negative; **text >= '0' && **text <= '9'; ++*text)
        number = number * 10 + (**text - '0');
    return is_negative ? -number : number;
}

/* The seconds and nanoseconds behind the name of a clock. */
static int64_t offset_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    if (at == NULL)
        return 0;
    at += strlen(name);
    int64_t seconds = signed_number_at(&at);
    return seconds * 1000000000 + signed_number_at(&at);
}

bool col_own_status_clocks(struct col_own_clocks *clocks)
{
    uint64_t own = namespace_at("/proc/self/ns/time");
    char text[256];
    *text = '\0';
    /* Where the kernel has no time namespaces there is one. */
    if (own != COL_EVENT_UNKNOWN && own != FIRST_TIME_NAMESPACE) {
        if (namespace_at("/proc/self/ns/time_for_children") != own)
            return false;
        read_text("/proc/self/timens_offsets", text, sizeof text);
    }
    *clocks = (struct col_own_clocks){offset_after(text, "monotonic"), offset_after(text, "boottime")};
    return true;
}

bool col_own_status_may_be_traced(void)
{
    struct rusage usage;
    return col_arch_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) != 0 || usage.ru_nvcsw != 0;
}

bool col_own_status_is_filtered(void)
{
    return col_arch_syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0) != 0;
}
