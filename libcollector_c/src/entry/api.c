/* api.c -- the functions of libcollector.h, as the library exports them */
#define COLLECTOR_LINKED /* the prototypes, not the macros */
#include "entry/interpose.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/os.h"
#include "control/session.h"
#include "experiment/event.h"
#include "libcollector.h"
#include "target/api_arguments.h"

#define DATA_LIMIT 1000000u /* a frame of the log holds a little more */

COL_EXPORT void collector_sample(const char *name)
{
    if (!col_session_is_open())
        return;
    if (name != NULL && !col_api_arguments_is_text(name)) {
        col_api_arguments_drop();
        return;
    }
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

static bool is_data(const void *data, size_t length)
{
    return length <= DATA_LIMIT && col_api_arguments_readable((uintptr_t)data, length) == length;
}

COL_EXPORT void collector_writelog(const void *data, size_t length)
{
    if (!col_session_is_open())
        return;
    if (data != NULL && !is_data(data, length)) {
        col_api_arguments_drop();
        return;
    }
    col_api_arguments_count(
        col_event_userdata((struct col_event_head){col_clock_now(), col_os_thread_id()},
                           &(struct col_event_userdata){.data = data, .data_bytes = data != NULL ? length : 0}));
}
