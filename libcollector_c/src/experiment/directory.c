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
    memcpy(paths->open, paths->log, sizeof paths->open);
    paths->directory_length = (size_t)length;
    int error = col_os_mkdir(paths->log, 0777);
    return error == -EEXIST ? 0 : error;
}

static int end_path(char *path, size_t directory_length, pid_t pid, unsigned image, const char *suffix)
{
    size_t room = PATH_MAX - directory_length;
    int length = snprintf(path + directory_length, room, "/%d.%u.%s", (int)pid, image, suffix);
    return length >= (int)room ? -ENAMETOOLONG : 0;
}

int col_directory_name_image(struct col_directory_paths *paths, pid_t pid, unsigned image)
{
    int error = end_path(paths->log, paths->directory_length, pid, image, "log");
    return error != 0 ? error : end_path(paths->open, paths->directory_length, pid, image, "open");
}
