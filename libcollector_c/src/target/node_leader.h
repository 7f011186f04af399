/* node_leader.h -- the one process of a node that measures what belongs to the node */
#ifndef COL_TARGET_NODE_LEADER_H
#define COL_TARGET_NODE_LEADER_H

#include <stdbool.h>

/*
 * Whoever holds the lock of a file leads. The kernel takes it back when he dies, however he dies, and the next who asks has it.
 */

/* `stem` begins the file's path; the node's name ends it, so that a path that several nodes share is a lock for each. "": we lead, alone. Ordinary code. */
void col_node_leader_open(const char *stem);

/* From anywhere, signal handlers included. */

/* Do we lead? Takes the lock if it is free. Below a microsecond. */
bool col_node_leader_ask(void);

/* The log is closed: somebody else may lead. */
void col_node_leader_close(void);

/* In a fork child, once all our descriptors there were closed. */
void col_node_leader_forget(void);

#endif
