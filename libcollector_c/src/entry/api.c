/* api.c -- the functions of libcollector.h, as the library exports them */
#define COLLECTOR_LINKED /* the prototypes, not the macros */
#include "entry/interpose.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/os.h"
#include "control/session.h"
#include "experiment/event.h"
#include "libcollector.h"

COL_EXPORT void collector_sample(const char *name)
{
    col_session_sample(name != NULL ? name : "", COL_SAMPLE_API);
}

COL_EXPORT void collector_pause(void)
{
    col_session_pause(COL_PAUSE_API);
}

COL_EXPORT void collector_resume(void)
{
    col_session_resume(COL_PAUSE_API);
}

COL_EXPORT void collector_terminate_expt(void)
{
    col_session_close(COL_CLOSE_TERMINATED);
}

COL_EXPORT const char *collector_version(void)
{
    return COLLECTOR_VERSION;
}

COL_EXPORT int collector_is_active(void)
{
    return col_session_is_open();
}

COL_EXPORT void collector_writelog(const void *data, size_t length)
{
    if (col_session_is_open())
        col_event_userdata((struct col_event_head){col_clock_now(), col_os_thread_id()},
                           &(struct col_event_userdata){.data = data, .data_bytes = data != NULL ? length : 0});
}
