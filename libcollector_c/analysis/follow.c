/* follow.c -- one stack after the other, as groups of frames: what comes to the path and what leaves it */
#include "follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool reserve_groups(struct col_follow *follow, uint32_t columns, size_t groups)
{
    bool is_there = COL_ARRAY_RESERVE(follow->open, follow->open_capacity, groups);
    if (follow->want & (COL_WANT_GROUPS | COL_WANT_EDGES))
        is_there = is_there && COL_ARRAY_RESERVE(follow->came, follow->came_capacity, groups * (columns + 1)) &&
                   col_sums_reserve(&follow->exclusive, columns, groups) &&
                   col_sums_reserve(&follow->inclusive, columns, groups);
    if (follow->want & (COL_WANT_TREE | COL_WANT_EDGES))
        is_there = is_there && col_call_nodes_begin(&follow->tree) && col_sums_reserve(&follow->finished, columns, 1) &&
                   col_sums_reserve(&follow->unfinished, columns, 1);
    return is_there;
}

int col_follow_begin(struct col_follow *follow, uint32_t columns, const struct col_question *question)
{
    col_follow_pop(follow, 0);
    col_sums_clear(&follow->exclusive);
    col_sums_clear(&follow->inclusive);
    col_sums_clear(&follow->finished);
    col_sums_clear(&follow->unfinished);
    if (question->group_count >= COL_ANALYSIS_NONE / 2 ||
        ((question->want & COL_WANT_EDGES) && (question->want & COL_WANT_TREE)) ||
        ((question->want & COL_WANT_ROWS) && !(question->want & COL_WANT_TREE)))
        return -EINVAL;
    follow->want = question->want;
    follow->columns = columns;
    follow->group_count = (uint32_t)question->group_count;
    return reserve_groups(follow, columns, question->group_count) ? 0 : -ENOMEM;
}

static bool push_node(struct col_follow *follow, struct col_open_group *open, uint32_t group)
{
    if (open->depth == 0 || (follow->want & COL_WANT_UNFOLDED)) {
        uint32_t parent = follow->depth > 0 ? follow->nodes[follow->depth - 1] : 0;
        open->node = col_call_nodes_find(&follow->tree, parent, group);
        if (open->node == 0)
            return false;
    }
    if (!COL_ARRAY_RESERVE(follow->nodes, follow->node_capacity, (size_t)follow->depth + 1))
        return false;
    follow->nodes[follow->depth] = open->node;
    return true;
}

static void keep_passed(const struct col_follow *follow, uint64_t *row)
{
    memcpy(row, follow->passed, (follow->columns + 1) * sizeof *row);
}

/* Adds what passed since `row` was kept. */
static void add_passed(const struct col_follow *follow, const uint64_t *row, struct col_sums *sums, uint32_t number)
{
    uint64_t passed[COL_ANALYSIS_MOST_COLUMNS + 1];
    if (row[follow->columns] == follow->passed[follow->columns])
        return;
    for (uint32_t column = 0; column <= follow->columns; column++)
        passed[column] = follow->passed[column] - row[column];
    col_sums_add(sums, number, passed);
}

static uint64_t *since_of(const struct col_follow *follow, uint32_t depth)
{
    return follow->since + (size_t)depth * (follow->columns + 1);
}

/* The call at a depth ends, or is no longer the innermost of its caller. */
static void leave_call(struct col_follow *follow, uint32_t depth)
{
    add_passed(follow, since_of(follow, depth), &follow->unfinished, follow->calls[depth].edge);
}

static bool reserve_calls(struct col_follow *follow, size_t depth)
{
    size_t rows = depth + depth / 2 + 16;
    return COL_ARRAY_RESERVE(follow->since, follow->since_capacity, rows * (follow->columns + 1)) &&
           COL_ARRAY_RESERVE(follow->calls, follow->call_capacity, rows);
}

static bool reserve_edges(struct col_follow *follow)
{
    return col_sums_reserve(&follow->finished, follow->columns, follow->tree.count) &&
           col_sums_reserve(&follow->unfinished, follow->columns, follow->tree.count);
}

static bool push_call(struct col_follow *follow, struct col_open_group *open, uint32_t group)
{
    uint32_t depth = follow->depth, before = open->depth > 0 ? open->node : COL_ANALYSIS_NONE;
    uint32_t caller = depth > 0 ? follow->path[depth - 1] : follow->group_count;
    uint32_t edge = col_call_nodes_find(&follow->tree, caller, group);
    if (edge == 0 || (edge >= follow->finished.count && !reserve_edges(follow)) ||
        (depth >= follow->call_capacity && !reserve_calls(follow, depth)))
        return false;
    if (before != COL_ANALYSIS_NONE && before + 1 < depth)
        leave_call(follow, before + 1);
    follow->calls[depth] = (struct col_open_call){edge, before};
    keep_passed(follow, since_of(follow, depth));
    open->node = depth;
    return true;
}

static void pop_call(struct col_follow *follow, struct col_open_group *open, uint32_t group)
{
    uint32_t depth = follow->depth, before = follow->calls[depth].before;
    if (depth > 0 && follow->path[depth - 1] != group)
        leave_call(follow, depth);
    open->node = before;
    if (before == COL_ANALYSIS_NONE)
        add_passed(follow, follow->came + (size_t)group * (follow->columns + 1), &follow->finished,
                   follow->calls[depth].edge);
    else if (before + 1 < depth)
        keep_passed(follow, since_of(follow, before + 1));
}

bool col_follow_push_any(struct col_follow *follow, uint32_t group)
{
    struct col_open_group *open = &follow->open[group];
    if (!COL_ARRAY_RESERVE(follow->path, follow->path_capacity, (size_t)follow->depth + 1))
        return false;
    if ((follow->want & COL_WANT_TREE) && !push_node(follow, open, group))
        return false;
    if ((follow->want & COL_WANT_EDGES) && !push_call(follow, open, group))
        return false;
    follow->path[follow->depth++] = group;
    if (open->depth++ == 0 && (follow->want & (COL_WANT_GROUPS | COL_WANT_EDGES)))
        keep_passed(follow, follow->came + (size_t)group * (follow->columns + 1));
    return true;
}

void col_follow_leave(struct col_follow *follow, uint32_t group)
{
    add_passed(follow, follow->came + (size_t)group * (follow->columns + 1), &follow->inclusive, group);
}

void col_follow_pop_any(struct col_follow *follow, uint32_t depth)
{
    while (follow->depth > depth) {
        uint32_t group = follow->path[--follow->depth];
        struct col_open_group *open = &follow->open[group];
        if (follow->want & COL_WANT_EDGES)
            pop_call(follow, open, group);
        if (--open->depth == 0 && (follow->want & COL_WANT_GROUPS))
            col_follow_leave(follow, group);
    }
}

bool col_follow_count(struct col_follow *follow, const uint64_t *figures, bool is_finished)
{
    for (uint32_t column = 0; column <= follow->columns; column++)
        follow->passed[column] += figures[column];
    if (follow->want & (COL_WANT_GROUPS | COL_WANT_EDGES))
        col_sums_add(&follow->exclusive, follow->path[follow->depth - 1], figures);
    if ((follow->want & (COL_WANT_TREE | COL_WANT_ROWS)) == COL_WANT_TREE) { /* rows are not added up */
        struct col_sums *sums = is_finished ? &follow->finished : &follow->unfinished;
        if (sums->count < follow->tree.count && !col_sums_reserve(sums, follow->columns, follow->tree.count))
            return false;
        col_sums_add(sums, follow->nodes[follow->depth - 1], figures);
    }
    return true;
}

void col_follow_settle(struct col_follow *follow, const struct col_measure *measure, const double *scales)
{
    col_sums_settle(&follow->exclusive, measure, scales);
    col_sums_settle(&follow->inclusive, measure, scales);
    col_sums_settle(&follow->finished, measure, scales);
    col_sums_settle(&follow->unfinished, measure, scales);
}

bool col_follow_sum_up(struct col_follow *follow)
{
    size_t width = (size_t)follow->columns + 1, nodes = follow->tree.count;
    const struct col_sums *sums[2] = {&follow->finished, &follow->unfinished};
    for (int which = 0; which < 2; which++) {
        if (!COL_ARRAY_RESERVE(follow->sums_below[which], follow->below_capacity[which], nodes * width))
            return false;
        double *below = follow->sums_below[which];
        memcpy(below, sums[which]->totals, nodes * width * sizeof *below);
        for (size_t node = nodes - 1; node > 0; node--) /* callees stand behind their callers */
            for (size_t column = 0; column < width; column++)
                below[follow->tree.parents[node] * width + column] += below[node * width + column];
    }
    return true;
}

void col_follow_free(struct col_follow *follow)
{
    free(follow->path);
    free(follow->nodes);
    free(follow->calls);
    free(follow->since);
    free(follow->sums_below[0]);
    free(follow->sums_below[1]);
    free(follow->open);
    free(follow->came);
    col_sums_free(&follow->exclusive);
    col_sums_free(&follow->inclusive);
    col_sums_free(&follow->finished);
    col_sums_free(&follow->unfinished);
    col_call_nodes_free(&follow->tree);
}
