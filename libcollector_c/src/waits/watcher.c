/* watcher.c -- takes the best way to watch that there is, and says how it went */
#include "waits/watcher.h"

#include <string.h>
#include <unistd.h>

#include "base/real.h"
#include "base/text_format.h"
#include "waits/switch_rings.h"
#include "waits/wait_log.h"
#include "waits/watch_by_looks.h"
#include "waits/watch_by_rings.h"
#include "waits/watching.h"

#define DETAIL_BYTES 160

static void tell(const struct col_watching *watching)
{
    col_wait_log_tell("looks", "looks at threads were taken", watching->look_count);
    col_wait_log_tell("torn", "looks do not count: the thread ran meanwhile", watching->threads.torn_count);
    col_wait_log_tell("running", "looks found a thread that ran", watching->running_count);
    col_wait_log_tell("refused", "looks were refused by the system", watching->refused_count);
    col_wait_log_tell("unread", "looks do not count: the stack could not be read", watching->unread_count);
    col_wait_log_tell("lost", "switches are missing: the kernel had no room for their records", watching->lost_count);
}

static int watch_by(const struct col_wait_watch *watch, struct col_switch_rings *rings, int refusal)
{
    struct col_watching watching;
    char detail[DETAIL_BYTES];
    col_text_print_into(detail, sizeof detail, "the kernel gives no records of context switches: %s",
                        strerror(-refusal));
    int error = col_wait_log_open(watch->experiment, refusal == 0 ? "switches" : "looks", refusal == 0 ? NULL : detail,
                                  watch->looks_ns);
    close(watch->ready);
    if (error != 0)
        return error;
    col_watching_begin(&watching, watch->looks_ns);
    if (refusal == 0)
        col_watch_by_rings(&watching, rings, watch->end);
    else
        col_watch_by_looks(&watching, watch->pid, watch->end);
    tell(&watching);
    col_watching_end(&watching);
    col_wait_log_close();
    return 0;
}

int col_wait_watcher_run(const struct col_wait_watch *watch)
{
    struct col_switch_rings rings;
    col_real_resolve();
    int refusal = col_switch_rings_open(&rings, watch->pid), error = watch_by(watch, &rings, refusal);
    if (refusal == 0)
        col_switch_rings_close(&rings);
    return error;
}
