/* own_status.c -- what the kernel tells a thread of itself */
#include "target/own_status.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/os.h"

static uint32_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    uint32_t number = 0;
    for (at = at != NULL ? at + strlen(name) : ""; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint32_t)(*at - '0');
    return number;
}

struct col_own_status col_own_status_read(void)
{
    char text[2048];
    int fd = col_os_open("/proc/thread-self/status", O_RDONLY, 0);
    ssize_t length = fd < 0 ? 0 : col_os_read(fd, text, sizeof text - 1);
    if (fd >= 0)
        col_os_close(fd);
    text[length > 0 ? length : 0] = '\0';
    uint32_t filter_count = number_after(text, "\nSeccomp_filters:\t");
    if (filter_count == 0 && number_after(text, "\nSeccomp:\t") != 0)
        filter_count = 1;
    return (struct col_own_status){number_after(text, "\nTracerPid:\t"), filter_count};
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
