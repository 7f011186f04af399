/* own_beginning.c -- which process writes a log of others, and on which machine */
#include "target/own_beginning.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "experiment/event.h"
#include "target/own_status.h"

void col_own_beginning_write(void)
{
    struct col_own_birth birth = col_own_status_birth();
    struct utsname name;
    uname(&name);
    struct col_event_initialize event = {.wall_ns = col_clock_wall(),
                                         .pid = (uint32_t)getpid(),
                                         .ppid = (uint32_t)getppid(),
                                         .host = name.nodename,
                                         .machine = name.machine,
                                         .kernel = name.release,
                                         .cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
                                         .page_bytes = (uint32_t)sysconf(_SC_PAGESIZE),
                                         .library_version = COLLECTOR_VERSION,
                                         .uid = (uint32_t)getuid(),
                                         .start_ticks = birth.start_ticks,
                                         .pid_namespace = birth.pid_namespace,
                                         .rank = COL_EVENT_UNKNOWN,
                                         .local_rank = COL_EVENT_UNKNOWN};
    col_clock_process_times(&event.user_ns, &event.system_ns);
    col_event_initialize((struct col_event_head){col_clock_now(), 0}, &event);
}
