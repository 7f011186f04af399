/* look.c -- what /proc says of a waiting thread */
#include "waits/look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/call_kinds.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/text_format.h"

#define PATH_BYTES 64
#define TEXT_BYTES 256

/* The file's text, ended by a zero, as it was after `time_ns`; its length, or -errno. */
static ssize_t read_file(uint32_t pid, uint32_t tid, const char *name, char *text, uint64_t *time_ns)
{
    char path[PATH_BYTES];
    col_text_print_into(path, sizeof path, "/proc/%u/task/%u/%s", pid, tid, name);
    int fd = col_os_open(path, O_RDONLY, 0);
    if (fd < 0)
        return fd;
    *time_ns = col_clock_now();
    ssize_t bytes = col_os_read(fd, text, TEXT_BYTES - 1);
    col_os_close(fd);
    text[bytes > 0 ? bytes : 0] = '\0';
    return bytes;
}

static enum col_look_result result_of(ssize_t error)
{
    return error == -EACCES || error == -EPERM ? COL_LOOK_REFUSED : COL_LOOK_GONE;
}

/* "CALL ARGUMENT*6 SP PC", "-1 SP PC" outside of a call, or "running". */
enum col_look_result col_look_at(uint32_t pid, uint32_t tid, struct col_look *look)
{
    char text[TEXT_BYTES], *at = text;
    uint64_t time_ns;
    ssize_t bytes = read_file(pid, tid, "syscall", text, &time_ns);
    if (bytes <= 0)
        return result_of(bytes);
    *look = (struct col_look){.call = strtol(text, &at, 10), .time_ns = time_ns};
    if (at == text)
        return COL_LOOK_RUNNING;
    for (unsigned i = 0; i < 6 && look->call >= 0; i++)
        look->arguments[i] = strtoull(at, &at, 0);
    look->sp = strtoull(at, &at, 0);
    look->pc = strtoull(at, &at, 0);
    return look->pc != 0 ? COL_LOOK_WAITING : COL_LOOK_REFUSED;
}

bool col_look_schedule(uint32_t pid, uint32_t tid, struct col_schedule *schedule)
{
    char text[TEXT_BYTES], *at = text;
    uint64_t time_ns;
    if (read_file(pid, tid, "schedstat", text, &time_ns) <= 0)
        return false;
    schedule->cpu_ns = strtoull(at, &at, 10);
    schedule->delay_ns = strtoull(at, &at, 10);
    schedule->turns = strtoull(at, &at, 10);
    return true;
}

static bool begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* Only the name is asked for: what it leads to, perhaps on a file system that does not answer, is not touched. */
static enum col_wait_cause cause_of_file(uint32_t pid, uint64_t descriptor)
{
    char path[PATH_BYTES], name[TEXT_BYTES];
    col_text_print_into(path, sizeof path, "/proc/%u/fd/%u", pid, (unsigned)descriptor);
    ssize_t bytes = readlink(path, name, sizeof name - 1);
    if (bytes <= 0)
        return COL_WAIT_OTHER;
    name[bytes] = '\0';
    if (name[0] == '/')
        return begins_with(name, "/dev/pts/") || begins_with(name, "/dev/tty") ? COL_WAIT_TERMINAL : COL_WAIT_FILE;
    return begins_with(name, "socket:") ? COL_WAIT_SOCKET
           : begins_with(name, "pipe:") ? COL_WAIT_PIPE
                                        : COL_WAIT_EVENTS; /* eventfd, timerfd, signalfd, inotify */
}

enum col_wait_cause col_look_cause(uint32_t pid, const struct col_look *look)
{
    if (look->call == COL_LOOK_NO_CALL)
        return COL_WAIT_PAGE;
    switch (col_call_kind_of(look->call)) {
    case COL_CALL_OF_FILE:
        return cause_of_file(pid, look->arguments[0]);
    case COL_CALL_LOCK:
        return COL_WAIT_LOCK;
    case COL_CALL_TIMER:
        return COL_WAIT_TIMER;
    case COL_CALL_EVENTS:
        return COL_WAIT_EVENTS;
    case COL_CALL_SOCKET:
        return COL_WAIT_SOCKET;
    case COL_CALL_CHILD:
        return COL_WAIT_CHILD;
    case COL_CALL_SIGNAL:
        return COL_WAIT_SIGNAL;
    case COL_CALL_MESSAGE:
        return COL_WAIT_MESSAGE;
    case COL_CALL_STORAGE:
        return COL_WAIT_FILE;
    default:
        return COL_WAIT_OTHER;
    }
}

const char *col_look_cause_name(enum col_wait_cause cause)
{
    static const char *const names[COL_WAIT_CAUSES] = {
        [COL_WAIT_UNKNOWN] = "unseen",  [COL_WAIT_LOCK] = "lock",     [COL_WAIT_GIL] = "gil",
        [COL_WAIT_TIMER] = "timer",     [COL_WAIT_EVENTS] = "events", [COL_WAIT_SOCKET] = "socket",
        [COL_WAIT_PIPE] = "pipe",       [COL_WAIT_FILE] = "file",     [COL_WAIT_TERMINAL] = "terminal",
        [COL_WAIT_CHILD] = "child",     [COL_WAIT_SIGNAL] = "signal", [COL_WAIT_MESSAGE] = "message",
        [COL_WAIT_PAGE] = "page_fault", [COL_WAIT_OTHER] = "other"};
    return names[cause];
}
