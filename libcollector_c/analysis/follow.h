/* follow.h -- one stack after the other, as groups of frames: what comes to the path and what leaves it
 *
 * Inclusive time needs no tree and no set of groups on a stack: a group gets all time that passed between its coming
 * to the path and its leaving it. One that is there several times, as in recursion, came with its outermost frame and
 * leaves with that.
 */
#ifndef COL_ANALYSIS_FOLLOW_H
#define COL_ANALYSIS_FOLLOW_H

#include "seam.h"
#include "call_nodes.h"
#include "sums.h"

/* What is open of a group. */
struct col_open_group {
    uint32_t depth; /* how many times it is on the path */
    uint32_t node;  /* TREE: where it is in the tree; EDGES: the depth at which it was called last */
};

/* EDGES: a call that is on the path. `before`: the depth at which the called group stands above, or NONE. */
struct col_open_call {
    uint32_t edge;
    uint32_t before;
};

struct col_follow {
    uint64_t want;
    uint32_t columns;
    uint32_t group_count;
    uint32_t *path; /* groups from the root on */
    uint32_t depth;
    size_t path_capacity;
    uint32_t *nodes; /* TREE: by depth, the node that the path had reached */
    size_t node_capacity;
    struct col_open_call *calls; /* EDGES: by depth */
    size_t call_capacity;
    uint64_t *since; /* EDGES: by depth, the figures of `passed` when its call became the innermost of the caller */
    size_t since_capacity;
    struct col_open_group *open;
    size_t open_capacity;
    uint64_t *came; /* by group: the figures of `passed` when it came */
    size_t came_capacity;
    uint64_t passed[COL_ANALYSIS_MOST_COLUMNS + 1];
    struct col_sums exclusive;
    struct col_sums inclusive;
    struct col_sums finished;   /* EDGES: by outermost call */
    struct col_sums unfinished; /* EDGES: by innermost call */
    struct col_call_nodes tree; /* EDGES: the calls */
    double *sums_below[2];
    size_t below_capacity[2];
};

/* Zeroed memory is ready to begin. 0 or -errno. */
int col_follow_begin(struct col_follow *follow, uint32_t columns, const struct col_question *question);

/* The same as col_follow_push and col_follow_pop, where more is wanted than sums by group, or the path must grow. */
bool col_follow_push_any(struct col_follow *follow, uint32_t group);
void col_follow_pop_any(struct col_follow *follow, uint32_t depth);

/* A group leaves the path: all that passed since it came is its inclusive time. */
void col_follow_leave(struct col_follow *follow, uint32_t group);

/* A frame comes to the path. False if memory is short. Nearly all the time of an analysis is spent here and in pop: for
   sums by group alone the path has one step for a group that follows itself, as in a recursion. */
static inline bool col_follow_push(struct col_follow *follow, uint32_t group)
{
    if (follow->want != COL_WANT_GROUPS || follow->depth >= follow->path_capacity)
        return col_follow_push_any(follow, group);
    if (follow->depth > 0 && follow->path[follow->depth - 1] == group)
        return true;
    follow->path[follow->depth++] = group;
    if (follow->open[group].depth++ == 0) {
        uint32_t columns = follow->columns;
        uint64_t *came = follow->came + (size_t)group * (columns + 1);
        for (uint32_t column = 0; column <= columns; column++)
            came[column] = follow->passed[column];
    }
    return true;
}

/* The path is cut to a depth. */
static inline void col_follow_pop(struct col_follow *follow, uint32_t depth)
{
    if (follow->want != COL_WANT_GROUPS) {
        col_follow_pop_any(follow, depth);
        return;
    }
    while (follow->depth > depth) {
        uint32_t group = follow->path[--follow->depth];
        if (--follow->open[group].depth == 0)
            col_follow_leave(follow, group);
    }
}

/* Samples of these figures have the path, which is not empty, for their stack. */
bool col_follow_count(struct col_follow *follow, const uint64_t *figures, bool is_finished);

/* A thread is done, whose values are multiplied by its `scales` (struct col_question). The path is empty. */
void col_follow_settle(struct col_follow *follow, const struct col_measure *measure, const double *scales);

/* TREE: the sums of finished and of unfinished stacks with those of all nodes below. False if memory is short. */
bool col_follow_sum_up(struct col_follow *follow);

void col_follow_free(struct col_follow *follow);

#endif
