/* call_nodes.h -- the tree of calls: its nodes by parent and group */
#ifndef COL_ANALYSIS_CALL_NODES_H
#define COL_ANALYSIS_CALL_NODES_H

#include "array.h"

#include <stdint.h>

/* Zeroed memory is a tree of nothing; begin makes node 0, the root. */
struct col_call_nodes {
    uint32_t *parents;
    uint32_t *groups;
    size_t count;
    size_t parent_capacity, group_capacity;
    uint32_t *slots; /* numbers of nodes; 0 is free */
    size_t slot_count;
};

bool col_call_nodes_begin(struct col_call_nodes *nodes);

/* The node of a group called from `parent`, a new one where there is none; 0 if memory is short. */
uint32_t col_call_nodes_find(struct col_call_nodes *nodes, uint32_t parent, uint32_t group);

void col_call_nodes_free(struct col_call_nodes *nodes);

#endif
