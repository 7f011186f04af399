/* directory.c -- the names of things in an experiment's directory */
#include "experiment/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/text_format.h"

int col_directory_enter(struct col_directory_paths *paths, const char *directory)
{
    size_t size = sizeof paths->log, bytes = 0;
    if (directory[0] != '/') {
        ssize_t length = col_os_working_directory(paths->log, size);
        if (length < 0)
            return (int)length;
        bytes = (size_t)length;
        paths->log[bytes] = '/';
        bytes += bytes < size;
    }
    if (strlen(directory) >= size - bytes)
        return -ENAMETOOLONG;
    strcpy(paths->log + bytes, directory);
    paths->directory_length = strlen(paths->log);
    return 0;
}

int col_directory_make(struct col_directory_paths *paths)
{
    paths->log[paths->directory_length] = '\0';
    int error = col_os_mkdir(paths->log, 0700);
    if (error == 0 && col_os_access(AT_FDCWD, paths->log, R_OK | W_OK | X_OK) != 0)
        col_os_chmod(paths->log, 0700); /* the umask withholds it from its owner too */
    return error == -EEXIST ? 0 : error;
}

int col_directory_name_log(struct col_directory_paths *paths, const char *name)
{
    size_t room = sizeof paths->log - paths->directory_length;
    if (strlen(name) + 1 >= room)
        return -ENAMETOOLONG;
    col_text_print_into(paths->log + paths->directory_length, room, "/%s", name);
    return 0;
}

int col_directory_name_image(struct col_directory_paths *paths, pid_t pid, unsigned image)
{
    char name[40]; /* a number, ".", a number, ".log" */
    col_text_print_into(name, sizeof name, "%d.%u.log", (int)pid, image);
    return col_directory_name_log(paths, name);
}
