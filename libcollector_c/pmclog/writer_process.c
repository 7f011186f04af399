/* writer_process.c -- whether the process that writes a log still runs: the same question as collector/experiment/liveness.py asks */
#include "writer_process.h"

#include "pmclog.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The state letter of a process and the ticks since boot at which it began. False if there is none. */
static bool read_state(pid_t pid, char *state, unsigned long long *ticks)
{
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t count = read(fd, text, sizeof text - 1);
    close(fd);
    if (count <= 0)
        return false;
    text[count] = '\0';
    const char *rest = strrchr(text, ')'); /* the name before it may hold anything */
    return rest && sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                          state, ticks) == 2;
}

bool col_writer_process_is_gone(pid_t pid, uint64_t start_ticks)
{
    unsigned long long ticks;
    char state;
    return pid <= 0 || !read_state(pid, &state, &ticks) || state == 'Z' || state == 'X' ||
           (start_ticks != PMCLOG_UNKNOWN && start_ticks != ticks);
}
