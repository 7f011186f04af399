/* directory.c -- the names of things in an experiment's directory */
#include "experiment/directory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"

int col_directory_enter(struct col_directory_paths *paths, const char *directory)
{
    char base[PATH_MAX] = "";
    if (directory[0] != '/') {
        ssize_t length = col_os_working_directory(base, sizeof base);
        if (length < 0)
            return (int)length;
    }
    int length = snprintf(paths->log, sizeof paths->log, "%s/%s", base, directory + (directory[0] == '/'));
    if (length >= (int)sizeof paths->log)
        return -ENAMETOOLONG;
    paths->directory_length = (size_t)length;
    int error = col_os_mkdir(paths->log, 0777);
    return error == -EEXIST ? 0 : error;
}

int col_directory_name_image(struct col_directory_paths *paths, pid_t pid, unsigned image)
{
    size_t room = sizeof paths->log - paths->directory_length;
    int length = snprintf(paths->log + paths->directory_length, room, "/%d.%u.log", (int)pid, image);
    return length >= (int)room ? -ENAMETOOLONG : 0;
}
