/* directory.h -- the names of things in an experiment's directory */
#ifndef COL_EXPERIMENT_DIRECTORY_H
#define COL_EXPERIMENT_DIRECTORY_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

/* Absolute, so that they hold when the program changes its directory. */
struct col_directory_paths {
    size_t directory_length;
    char log[PATH_MAX];
};

/* Makes the directory if it is not there (its parent must be), and begins the path with its absolute name. 0 or -errno. Not for signal handlers. */
int col_directory_enter(struct col_directory_paths *paths, const char *directory);

/* Ends the path with the name of image number `image` of a process. -ENAMETOOLONG if there is no room. */
int col_directory_name_image(struct col_directory_paths *paths, pid_t pid, unsigned image);

#endif
