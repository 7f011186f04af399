/* cores.c -- how many processors this machine has */
#include "target/cores.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/os.h"
#include "base/text_format.h"

#define ONLINE "/sys/devices/system/cpu/online" /* 0-3,8-11 */
#define SIBLINGS "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list"

static struct {
    int logical, physical; /* 0: not looked up yet */
} self;

static bool read_text(const char *path, char *text, size_t size)
{
    int fd = col_os_open(path, O_RDONLY, 0);
    ssize_t bytes = fd < 0 ? -1 : col_os_read(fd, text, size - 1);
    if (fd >= 0)
        col_os_close(fd);
    text[bytes > 0 ? bytes : 0] = '\0';
    return bytes > 0;
}

static const char *read_number(const char *at, int *number)
{
    for (*number = 0; *at >= '0' && *at <= '9'; at++)
        *number = *number * 10 + (*at - '0');
    return at;
}

/* The next range of a list such as 0-3,8; false at its end. */
static bool next_range(const char **at, int *first, int *last)
{
    if (**at < '0' || **at > '9')
        return false;
    *at = read_number(*at, first);
    *last = *first;
    if (**at == '-')
        *at = read_number(*at + 1, last);
    *at += **at == ',';
    return true;
}

static bool is_first_of_core(int processor)
{
    char path[128], text[256];
    int first = processor;
    col_text_print_into(path, sizeof path, SIBLINGS, processor);
    if (read_text(path, text, sizeof text))
        read_number(text, &first);
    return first == processor;
}

static void look_up(void)
{
    char text[1024];
    const char *at = text;
    int first, last, logical = 0, physical = 0;
    if (self.logical != 0)
        return;
    if (read_text(ONLINE, text, sizeof text))
        while (next_range(&at, &first, &last))
            for (int processor = first; processor <= last; processor++, logical++)
                physical += is_first_of_core(processor);
    self.physical = logical != 0 ? physical : -1;
    self.logical = logical != 0 ? logical : -1;
}

int col_cores_logical(void)
{
    look_up();
    return self.logical;
}

int col_cores_physical(void)
{
    look_up();
    return self.physical;
}
