/* sandbox.c -- the program enters seccomp, or redirects its system calls: recording goes on where that allows it, and falls silent first where it does not */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/sandbox.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/text_format.h"
#include "control/session.h"
#include "control/silence.h"
#include "experiment/format.h"
#include "experiment/messages.h"
#include "target/seccomp_filter.h"

/* The link count of a directory is its subdirectories' and two. */
static bool is_only_thread(void)
{
    struct stat tasks;
    return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

/* Why recording ends, and how far. */
struct end {
    const char *what, *call; /* what the program did; the call that it does not let us make, or nothing */
    bool is_for_all, can_return;
};

static void explain(const char *who, const struct end *end)
{
    char text[200];
    col_text_print_into(text, sizeof text, "%s %s%s, and its recording ended there", who, end->what, end->call);
    col_messages_say(COL_MESSAGE_WARNING, NULL, text);
}

static enum col_sandbox_step fall_silent(const struct end *end)
{
    bool was_open = col_session_is_open();
    if (!end->is_for_all && end->can_return && was_open && !is_only_thread()) {
        explain("a thread", end);
        col_session_thread_end();
        col_silence_begin(false);
        return COL_SANDBOX_THREAD_SILENT;
    }
    if (was_open) {
        explain("the program", end);
        col_session_close(COL_CLOSE_SECCOMP);
    }
    col_silence_begin(true);
    return was_open ? COL_SANDBOX_CLOSED : COL_SANDBOX_MARKED;
}

static struct end end_by(const struct sock_fprog *filter, bool is_for_all, const struct col_seccomp_call *obstacle)
{
    if (filter == NULL)
        return (struct end){"entered the strict mode of seccomp", "", is_for_all, true};
    return (struct end){"entered seccomp with a filter that does not let the recorder call ", obstacle->name,
                        is_for_all, col_seccomp_filter_lets_handlers_return(filter)};
}

enum col_sandbox_step col_sandbox_enter(const struct sock_fprog *filter, bool is_for_all)
{
    if (col_session_pid() == 0 || col_silence_is_on())
        return COL_SANDBOX_UNCHANGED;
    int saved_errno = errno;
    enum col_sandbox_step step = COL_SANDBOX_UNCHANGED;
    const struct col_seccomp_call *obstacle = filter != NULL ? col_seccomp_filter_obstacle(filter) : NULL;
    bool is_vfork_child = col_os_process_id() != col_session_pid();
    col_os_unlock_from_now(false); /* which a filter need not let us call */
    if (filter != NULL && obstacle == NULL) {
        col_silence_count_known(1);
        step = COL_SANDBOX_ALLOWED;
    } else if (is_vfork_child) {
        col_silence_note_child();
    } else {
        struct end end = end_by(filter, is_for_all, obstacle);
        step = fall_silent(&end);
    }
    errno = saved_errno;
    return step;
}

enum col_sandbox_step col_sandbox_redirect(void)
{
    if (col_session_pid() == 0 || col_silence_is_on() || col_os_process_id() != col_session_pid())
        return COL_SANDBOX_UNCHANGED;
    int saved_errno = errno;
    enum col_sandbox_step step =
        fall_silent(&(struct end){"redirected its system calls to a handler of its own", "", true, false});
    errno = saved_errno;
    return step;
}

void col_sandbox_undo(enum col_sandbox_step step)
{
    int saved_errno = errno;
    if (step == COL_SANDBOX_ALLOWED)
        col_silence_count_known(-1);
    if (step != COL_SANDBOX_ALLOWED && step != COL_SANDBOX_UNCHANGED)
        col_silence_end(step != COL_SANDBOX_THREAD_SILENT);
    if (step == COL_SANDBOX_CLOSED)
        col_session_exec_revive();
    if (step == COL_SANDBOX_THREAD_SILENT)
        col_session_thread_return();
    if (step == COL_SANDBOX_CLOSED || step == COL_SANDBOX_THREAD_SILENT)
        col_messages_say(COL_MESSAGE_WARNING, NULL, "the kernel refused that, and recording went on");
    errno = saved_errno;
}
