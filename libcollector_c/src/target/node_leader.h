/* node_leader.h -- the one process of a node that measures what belongs to the node */
#ifndef COL_TARGET_NODE_LEADER_H
#define COL_TARGET_NODE_LEADER_H

#include <stdint.h>

/*
 * Whoever holds the lock of the file at an agreed path leads. The kernel takes the lock back when he dies, however he dies, and the next who asks has it. A
 * leader that sleeps measures nothing, and a shell that waits for its children sleeps all its life: each time a leader asks he notes the time in the file, and
 * another one who finds that old puts a file of his own, locked, in its place. The old leader finds out when he wakes and asks.
 */

/* `stem` begins the file's path; the node's name ends it, so that a path that several nodes share is a lock for each. "": we lead, alone. Ordinary code. */
void col_node_leader_open(const char *stem);

/* From anywhere, signal handlers included. */

enum col_node_leader { COL_NODE_FOLLOWS, COL_NODE_LEADS_NEWLY, COL_NODE_LEADS };

/* Do we lead, and did we when we last asked? Takes the lock if it is free, or its holder has not asked for `patience_ns`. About a microsecond. */
enum col_node_leader col_node_leader_ask(uint64_t now_ns, uint64_t patience_ns);

/* The log is closed: somebody else may lead. */
void col_node_leader_close(void);

/* In a fork child, once all our descriptors there were closed. */
void col_node_leader_forget(void);

#endif
