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

/* Paths of the recorder and of the experiment; NULL before remember, or if this process has none. */
const char *col_child_environment_library(void);
const char *col_child_environment_experiment(void);

/*
 * `entry`, "NAME=value" with a name of ours, in the environment of what this process runs from now on, but not in its own: programs count on the strings there lying
 * in one piece, and write over them. It must stay. Ordinary code, before main.
 */
void col_child_environment_add(char *entry);

/*
 * What must change in `environment` before a child gets it. `is_preloaded`: it is to be recorded, and needs all our variables; otherwise LD_PRELOAD must not
 * name us. 0: nothing. Else so many pointers are needed and `text_bytes` of text, which the caller provides on its stack; fill makes the child's
 * environment there; the given one is never changed. Safe in vfork children.
 */
size_t col_child_environment_measure(char *const *environment, bool is_preloaded, size_t *text_bytes);
void col_child_environment_fill(char *const *environment, bool is_preloaded, char **entries, char *text);

#endif
