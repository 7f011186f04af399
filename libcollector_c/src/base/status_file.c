/* status_file.c -- the status of a thread as text, without what makes it long */
#include "base/status_file.h"

#include <fcntl.h>
#include <string.h>

#include "base/os.h"

/* Takes away what is there of the list of groups; gives what is left. */
static size_t drop_groups(char *text, size_t bytes)
{
    static const char name[] = "\nGroups:\t";
    char *list = strstr(text, name);
    if (list == NULL)
        return bytes;
    list += sizeof name - 1;
    const char *end = strchrnul(list, '\n');
    size_t rest = (size_t)(text + bytes - end);
    memmove(list, end, rest + 1);
    return (size_t)(list - text) + rest;
}

void col_status_file_read(const char *path, char text[static COL_STATUS_BYTES])
{
    size_t bytes = 0;
    ssize_t length;
    int fd = col_os_open(path, O_RDONLY, 0);
    text[0] = '\0';
    while (fd >= 0 && (length = col_os_read(fd, text + bytes, COL_STATUS_BYTES - 1 - bytes)) > 0) {
        text[bytes + (size_t)length] = '\0';
        bytes = drop_groups(text, bytes + (size_t)length);
    }
    if (fd >= 0)
        col_os_close(fd);
}
