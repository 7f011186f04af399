/* stranger.c -- the account of a process that a bare system call made */
#include "control/stranger.h"

#include "base/clock.h"
#include "control/introduction.h"
#include "experiment/event.h"
#include "experiment/log_writer.h"
#include "experiment/messages.h"
#include "sample/recording.h"

static struct col_event_head head_now(void)
{
    return (struct col_event_head){col_clock_now(), 0};
}

void col_stranger_close(const struct col_options *options, pid_t maker, pid_t pid, unsigned reason,
                        const char *next_path)
{
    unsigned image;
    col_recording_set(COL_RECORDING_CLOSED);
    col_log_writer_forget();
    col_messages_forget();
    if (col_log_writer_open(options->experiment, pid, &image) != 0)
        return;
    col_introduction_write(options, pid, image);
    col_event_procfork(head_now(),
                       &(struct col_event_procfork){.parent_pid = (uint32_t)maker, .child_pid = (uint32_t)pid});
    if (next_path != NULL)
        col_event_procexec(head_now(), &(struct col_event_procexec){.pid = (uint32_t)pid, .path = next_path});
    col_messages_say(COL_MESSAGE_WARNING, NULL, "processes made by a bare system call (clone) were not sampled");
    col_messages_write_counts();
    struct col_event_closelog totals = {.reason = reason};
    struct col_event_procexit end = {.pid = (uint32_t)pid};
    col_clock_process_times(&totals.user_ns, &totals.system_ns);
    end.user_ns = totals.user_ns;
    end.system_ns = totals.system_ns;
    if (reason == COL_CLOSE_EXIT)
        col_event_procexit(head_now(), &end);
    col_event_closelog(head_now(), &totals);
    col_log_writer_close();
}
