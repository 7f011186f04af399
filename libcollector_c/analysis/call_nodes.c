/* call_nodes.c -- the tree of calls: a hash table from parent and group to node */
#include "call_nodes.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024 };

static size_t slot_of(const struct col_call_nodes *nodes, uint32_t parent, uint32_t group)
{
    size_t mask = nodes->slot_count - 1;
    size_t slot = (size_t)(((uint64_t)parent << 32 | group) * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (nodes->slots[slot] != 0 &&
           (nodes->parents[nodes->slots[slot]] != parent || nodes->groups[nodes->slots[slot]] != group))
        slot = (slot + 1) & mask;
    return slot;
}

static bool double_slots(struct col_call_nodes *nodes)
{
    size_t count = nodes->slot_count ? 2 * nodes->slot_count : FIRST_SLOTS;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return false;
    free(nodes->slots);
    nodes->slots = slots;
    nodes->slot_count = count;
    for (uint32_t node = 1; node < nodes->count; node++)
        slots[slot_of(nodes, nodes->parents[node], nodes->groups[node])] = node;
    return true;
}

bool col_call_nodes_begin(struct col_call_nodes *nodes)
{
    free(nodes->slots);
    nodes->slots = NULL;
    nodes->slot_count = 0;
    nodes->count = 1;
    if (!COL_ARRAY_RESERVE(nodes->parents, nodes->parent_capacity, 1) ||
        !COL_ARRAY_RESERVE(nodes->groups, nodes->group_capacity, 1))
        return false;
    nodes->parents[0] = nodes->groups[0] = UINT32_MAX;
    return double_slots(nodes);
}

uint32_t col_call_nodes_find(struct col_call_nodes *nodes, uint32_t parent, uint32_t group)
{
    size_t slot = slot_of(nodes, parent, group);
    if (nodes->slots[slot] != 0)
        return nodes->slots[slot];
    size_t node = nodes->count;
    if (node >= UINT32_MAX || !COL_ARRAY_RESERVE(nodes->parents, nodes->parent_capacity, node + 1) ||
        !COL_ARRAY_RESERVE(nodes->groups, nodes->group_capacity, node + 1))
        return 0;
    nodes->parents[node] = parent;
    nodes->groups[node] = group;
    nodes->slots[slot] = (uint32_t)node;
    nodes->count++;
    return 2 * nodes->count <= nodes->slot_count || double_slots(nodes) ? (uint32_t)node : 0;
}

void col_call_nodes_free(struct col_call_nodes *nodes)
{
    free(nodes->parents);
    free(nodes->groups);
    free(nodes->slots);
}
