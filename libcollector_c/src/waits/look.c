/* look.c -- what /proc says of a waiting thread */
#include "waits/look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/text_format.h"

#define PATH_BYTES 64
#define TEXT_BYTES 512
#define NUMBERS_BEFORE_START 18 /* in stat, behind the name and the state */
#define S_NS 1000000000u

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

/* The kernel gives it in ticks of a clock that runs on while the machine sleeps. */
uint64_t col_look_beginning(uint32_t pid, uint32_t tid)
{
    char text[TEXT_BYTES], *at;
    uint64_t time_ns, tick_ns = S_NS / (uint64_t)sysconf(_SC_CLK_TCK);
    struct timespec boot;
    if (read_file(pid, tid, "stat", text, &time_ns) <= 0 || (at = strrchr(text, ')')) == NULL ||
        clock_gettime(CLOCK_BOOTTIME, &boot) != 0)
        return 0;
    at += strlen(") S");
    for (unsigned i = 0; i < NUMBERS_BEFORE_START; i++)
        strtoll(at, &at, 10);
    uint64_t start_ns = strtoull(at, &at, 10) * tick_ns + tick_ns / 2;
    uint64_t boot_ns = (uint64_t)boot.tv_sec * S_NS + (uint64_t)boot.tv_nsec;
    uint64_t age_ns = boot_ns > start_ns ? boot_ns - start_ns : 0;
    return *at == ' ' && age_ns < time_ns ? time_ns - age_ns : 0;
}

enum col_wait_cause col_look_cause(uint32_t pid, const struct col_look *look)
{
    char directory[PATH_BYTES];
    if (look->call == COL_LOOK_NO_CALL)
        return COL_WAIT_PAGE;
    if (!col_wait_cause_is_of_descriptor(look->call))
        return col_wait_cause_of_call(look->call);
    col_text_print_into(directory, sizeof directory, "/proc/%u/fd", pid);
    return col_wait_cause_of_descriptor(directory, (unsigned)look->arguments[0]);
}
