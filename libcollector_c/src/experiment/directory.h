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

/* Begins the path with the absolute name of `directory`. 0 or -errno. */
int col_directory_enter(struct col_directory_paths *paths, const char *directory);

/* Makes the directory, whose parent must be there; no error if somebody was quicker. 0 or -errno. Ends the path there again. */
int col_directory_make(struct col_directory_paths *paths);

/* Ends the path with a log's name. -ENAMETOOLONG if there is no room. */
int col_directory_name_log(struct col_directory_paths *paths, const char *name);

/* Ends the path with the name of image number `image` of a process. -ENAMETOOLONG if there is no room. */
int col_directory_name_image(struct col_directory_paths *paths, pid_t pid, unsigned image);

#endif
