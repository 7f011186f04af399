/* introduction.c -- what a log says first: which process this is, and what it was asked to record */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/introduction.h"

#include <limits.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kept_text.h"
#include "base/os.h"
#include "base/safe_read.h"
#include "base/sparse.h"
#include "control/rank.h"
#include "experiment/event.h"
#include "experiment/log_writer.h"
#include "target/modules.h"
#include "target/own_status.h"

#define OPTION_LIMIT 32
#define SAME_OFFSET_NS 1000000 /* two readings of clocks lie so far apart at most, as a rule */
#define NS_PER_TICK 10000000   /* of those in which /proc/self/stat says when a process began */
#define ARGUMENT_LIMIT 1024    /* a longer command line is cut */

/* Not on the stack: threads that fork may have little. Used while one thread is all there is. The working directory, and behind it what argv was: one page, as a rule. */
static _Alignas(char *) char scratch[PATH_MAX + ARGUMENT_LIMIT * sizeof(char *)] COL_SPARSE;

static struct {
    const char *arguments,
        *arguments_end;              /* the kernel's block of strings: programs move and free what argv points to */
    const char *words[OPTION_LIMIT]; /* of the options */
    size_t word_count;
} self;

/* The words of COLLECTOR_OPTIONS, one by one, in a copy that is cut up for it. */
static void split_options(const char *options)
{
    char *text = col_kept_text_join(options, "");
    while (text != NULL && *text != '\0' && self.word_count < OPTION_LIMIT) {
        char *comma = strchr(text, ',');
        if (*text != ',')
            self.words[self.word_count++] = text;
        if (comma != NULL)
            *comma++ = '\0';
        text = comma;
    }
}

/* A program that has gone on to another stack may have unmapped or protected the one that they lie on. */
static bool can_read_arguments(void)
{
    struct col_proved_pages proved = {.memory = NULL};
    uintptr_t start = (uintptr_t)self.arguments;
    return col_safe_read_prove(&proved, start, (uintptr_t)self.arguments_end - start);
}

/* Into what follows the working directory in `scratch`. None where they cannot be read. */
static const char **list_arguments(size_t *count)
{
    size_t directory_bytes = (strlen(scratch) + sizeof(char *)) & ~(sizeof(char *) - 1);
    const char **list = (const char **)(void *)(scratch + directory_bytes);
    *count = 0;
    if (self.arguments == NULL || !can_read_arguments())
        return list;
    for (const char *at = self.arguments; at < self.arguments_end && *count < ARGUMENT_LIMIT; at += strlen(at) + 1)
        list[(*count)++] = at;
    return list;
}

/* That is in a file: the process that made the experiment reads it. */
static uint64_t cpu_count(void)
{
    return col_log_writer_has_made_directory() ? (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) : COL_EVENT_UNKNOWN;
}

static bool is_same_offset(int64_t one_ns, int64_t other_ns)
{
    return one_ns - other_ns < SAME_OFFSET_NS && other_ns - one_ns < SAME_OFFSET_NS;
}

/* No time namespace has a CLOCK_REALTIME of its own. Where the others stand to it as they do to the launcher's, this one is the launcher's, or as good; if
   somebody has set the time, or we were interrupted, it only does not show. */
static bool has_clocks_of_launcher(const struct col_options *options)
{
    int64_t wall_ns, boottime_ns;
    col_clock_offsets(&wall_ns, &boottime_ns);
    return is_same_offset(wall_ns, options->wall_offset_ns) && is_same_offset(boottime_ns, options->boottime_offset_ns);
}

/* From here on times are those of the launcher's clock, whatever time namespace this process is in; so is its birth. */
static void settle_clocks(const struct col_options *options, struct col_own_birth *birth)
{
    struct col_own_clocks own = {options->monotonic_ahead_ns, options->boottime_ahead_ns};
    if (!has_clocks_of_launcher(options) && !col_own_status_clocks(&own))
        return;
    col_clock_set_ahead(own.monotonic_ns - options->monotonic_ahead_ns);
    if (birth->start_ticks != COL_EVENT_UNKNOWN)
        birth->start_ticks -= (uint64_t)((own.boottime_ns - options->boottime_ahead_ns) / NS_PER_TICK);
}

void col_introduction_remember(int argc, char **argv)
{
    if (argc < 1)
        return;
    self.arguments = argv[0];
    self.arguments_end = argv[argc - 1] + strlen(argv[argc - 1]) + 1;
}

void col_introduction_write(const struct col_options *options, pid_t pid, unsigned image)
{
    struct utsname name;
    struct col_own_birth birth = col_own_status_birth();
    struct col_rank rank = col_rank();
    size_t argument_count;
    settle_clocks(options, &birth);
    if (self.word_count == 0 && options->text[0] != '\0')
        split_options(options->text);
    if (col_os_working_directory(scratch, PATH_MAX) < 0 ||
        scratch[0] != '/') /* or it cannot be reached from this root */
        scratch[0] = '\0';
    uname(&name);
    const char *const *arguments = list_arguments(&argument_count);
    struct col_event_initialize event = {.wall_ns = col_clock_wall(),
                                         .pid = (uint32_t)pid,
                                         .ppid = (uint32_t)col_os_parent_id(),
                                         .image = image,
                                         .host = name.nodename,
                                         .machine = name.machine,
                                         .kernel = name.release,
                                         .cpu_count = cpu_count(),
                                         .page_bytes = (uint32_t)col_os_page_bytes(),
                                         .executable = col_modules_executable(),
                                         .argument_count = argument_count,
                                         .arguments = arguments,
                                         .directory = scratch,
                                         .options = self.words,
                                         .option_count = self.word_count,
                                         .library_version = COLLECTOR_VERSION,
                                         .uid = (uint32_t)getuid(),
                                         .start_ticks = birth.start_ticks,
                                         .pid_namespace = birth.pid_namespace,
                                         .rank = rank.rank,
                                         .local_rank = rank.local_rank};
    col_clock_process_times(&event.user_ns, &event.system_ns);
    col_event_initialize((struct col_event_head){col_clock_now(), col_os_thread_id()}, &event);
}
