/* child_environment.h -- what a program this process runs finds in its environment */
#ifndef COL_CONTROL_CHILD_ENVIRONMENT_H
#define COL_CONTROL_CHILD_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers our variables, as this process was given them. Ordinary code, once. */
void col_child_environment_remember(void);

/* `entry`, "NAME=value" with a name of ours, in the environment of this process and of what it runs from now on; it must stay. Ordinary code, before main. */
void col_child_environment_add(char *entry);

/*
 * Entries that `environment` needs to have for a child to be recorded: 0 if it has them all, or nothing is remembered. Otherwise the caller
 * provides an array of that many pointers and a buffer of `text_bytes`, on its stack, and fill makes the child's environment there; the
 * given one is never changed. Safe in vfork children.
 */
size_t col_child_environment_measure(char *const *environment, size_t *text_bytes);
void col_child_environment_fill(char *const *environment, char **entries, char *text);

#endif
