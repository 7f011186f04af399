/* child_environment.h -- what a program this process runs finds in its environment */
#ifndef COL_CONTROL_CHILD_ENVIRONMENT_H
#define COL_CONTROL_CHILD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Remembers our variables, as this process was given them. `is_passed_on`: programs that were given another environment get them all the same. Otherwise
 * they are only taken away where they would do harm. Ordinary code, once.
 */
void col_child_environment_remember(bool is_passed_on);

/* Paths of the recorder and, from the root, of the experiment; NULL before remember, or if this process has none. */
const char *col_child_environment_library(void);
const char *col_child_environment_experiment(void);

/*
 * `entry`, "NAME=value" with a name of ours, in the environment of what this process runs from now on, but not in its own: programs count on the strings there lying
 * in one piece, and write over them. It must stay. Ordinary code, before main.
 */
void col_child_environment_add(char *entry);

/* Whether `environment` asks for a recording that is not this one, as a `collector record` that is itself recorded does. It is left as it is. Safe in vfork children. */
bool col_child_environment_is_of_another_recording(char *const *environment);

enum col_child_kind {
    COL_CHILD_RECORDED,   /* needs all our variables */
    COL_CHILD_UNRECORDED, /* LD_PRELOAD must not name us */
    COL_CHILD_BARE        /* gets nothing of ours: for arguments that leave no room for it */
};

/*
 * What must change in `environment` before a child gets it. 0: nothing. Else so many pointers are needed and `text_bytes` of text, which the caller provides
 * on its stack; fill makes the child's environment there; the given one is never changed. Safe in vfork children.
 */
size_t col_child_environment_measure(char *const *environment, enum col_child_kind kind, size_t *text_bytes);
void col_child_environment_fill(char *const *environment, enum col_child_kind kind, char **entries, char *text);

/* Whether the kernel would take these arguments with what was in `environment` without us. */
bool col_child_environment_would_fit(const char *path, char *const *arguments, char *const *environment);

#endif
