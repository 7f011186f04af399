/* granted_clocks.c -- truth: which of the recorder's clocks the kernel grants to a process like this one, asked without the recorder */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static bool opens(bool is_sigtrap, bool ends_at_exec)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_TASK_CLOCK,
                                   .sample_period = 1062699, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
                                   .remove_on_exec = ends_at_exec};
    if (is_sigtrap)
        attr.inherit = attr.inherit_thread = attr.sigtrap = 1;
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

/* Kernels before 5.19 killed a program whose SIGTRAP was blocked when the event fired. */
static bool is_kernel_fit(void)
{
    struct utsname name;
    int major = 0, minor = 0;
    uname(&name);
    return sscanf(name.release, "%d.%d", &major, &minor) == 2 && (major > 5 || (major == 5 && minor >= 19));
}

int main(void)
{
    timer_t timer;
    printf("sigtrap %d\n", is_kernel_fit() && opens(true, true));
    printf("task-clock %d\n", opens(false, true) || opens(false, false));
    printf("cpu-timer %d\n", timer_create(CLOCK_THREAD_CPUTIME_ID, NULL, &timer) == 0);
    return 0;
}
