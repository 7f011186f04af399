/* follow.c -- one stack after the other, as groups of frames: what comes to the path and what leaves it */
#include "follow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool reserve_groups(struct col_follow *follow, uint32_t columns, size_t groups)
{
    bool is_there = COL_ARRAY_RESERVE(follow->open, follow->open_capacity, groups);
    if (follow->want & COL_WANT_GROUPS)
        is_there = is_there && COL_ARRAY_RESERVE(follow->came, follow->came_capacity, groups * (columns + 1));
    if (follow->want & (COL_WANT_GROUPS | COL_WANT_NEIGHBOURS)) /* one more for "start of the stack", or "itself" */
        is_there = is_there && col_sums_reserve(&follow->exclusive, columns, groups + 1) &&
                   col_sums_reserve(&follow->inclusive, columns, groups + 1);
    if (follow->want & COL_WANT_TREE)
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
        ((question->want & COL_WANT_NEIGHBOURS) &&
         (question->want & COL_WANT_GROUPS || question->focus >= question->group_count)))
        return -EINVAL;
    follow->want = question->want;
    follow->columns = columns;
    follow->focus = (uint32_t)question->focus;
    follow->group_count = (uint32_t)question->group_count;
    return reserve_groups(follow, columns, question->group_count) ? 0 : -ENOMEM;
}

static bool push_node(struct col_follow *follow, struct col_open_group *open, uint32_t group)
{
    if (open->depth == 0) {
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

bool col_follow_push_any(struct col_follow *follow, uint32_t group)
{
    struct col_open_group *open = &follow->open[group];
    if (!COL_ARRAY_RESERVE(follow->path, follow->path_capacity, (size_t)follow->depth + 1))
        return false;
    if ((follow->want & COL_WANT_TREE) && !push_node(follow, open, group))
        return false;
    if ((follow->want & COL_WANT_NEIGHBOURS) && group == follow->focus) {
        if (!COL_ARRAY_RESERVE(follow->focused, follow->focused_capacity, (size_t)follow->focused_count + 1))
            return false;
        follow->focused[follow->focused_count++] = follow->depth;
    }
    follow->path[follow->depth++] = group;
    if (open->depth++ == 0 && (follow->want & COL_WANT_GROUPS))
        memcpy(follow->came + (size_t)group * (follow->columns + 1), follow->passed,
               (follow->columns + 1) * sizeof *follow->came);
    return true;
}

void col_follow_leave(struct col_follow *follow, uint32_t group)
{
    const uint64_t *came = follow->came + (size_t)group * (follow->columns + 1);
    uint64_t passed[COL_ANALYSIS_MOST_COLUMNS + 1];
    if (came[follow->columns] == follow->passed[follow->columns])
        return;
    for (uint32_t column = 0; column <= follow->columns; column++)
        passed[column] = follow->passed[column] - came[column];
    col_sums_add(&follow->inclusive, group, passed);
}

void col_follow_pop_any(struct col_follow *follow, uint32_t depth)
{
    while (follow->depth > depth) {
        uint32_t group = follow->path[--follow->depth];
        if (--follow->open[group].depth == 0 && (follow->want & COL_WANT_GROUPS))
            col_follow_leave(follow, group);
    }
    while (follow->focused_count > 0 && follow->focused[follow->focused_count - 1] >= depth)
        follow->focused_count--;
}

/* The caller of the outermost call of the focus, and the callee of the innermost. */
static void count_neighbours(struct col_follow *follow, const uint64_t *figures)
{
    if (follow->focused_count == 0)
        return;
    uint32_t outermost = follow->focused[0], innermost = follow->focused[follow->focused_count - 1];
    bool has_callee = innermost + 1 < follow->depth;
    col_sums_add(&follow->exclusive, outermost > 0 ? follow->path[outermost - 1] : follow->group_count, figures);
    col_sums_add(&follow->inclusive, has_callee ? follow->path[innermost + 1] : follow->group_count, figures);
}

bool col_follow_count(struct col_follow *follow, const uint64_t *figures, bool is_finished)
{
    for (uint32_t column = 0; column <= follow->columns; column++)
        follow->passed[column] += figures[column];
    if (follow->want & COL_WANT_GROUPS)
        col_sums_add(&follow->exclusive, follow->path[follow->depth - 1], figures);
    if (follow->want & COL_WANT_NEIGHBOURS)
        count_neighbours(follow, figures);
    if (follow->want & COL_WANT_TREE) {
        struct col_sums *sums = is_finished ? &follow->finished : &follow->unfinished;
        if (sums->count < follow->tree.count && !col_sums_reserve(sums, follow->columns, follow->tree.count))
            return false;
        col_sums_add(sums, follow->nodes[follow->depth - 1], figures);
    }
    return true;
}

void col_follow_settle(struct col_follow *follow, double scale)
{
    col_sums_settle(&follow->exclusive, scale);
    col_sums_settle(&follow->inclusive, scale);
    col_sums_settle(&follow->finished, scale);
    col_sums_settle(&follow->unfinished, scale);
}

void col_follow_free(struct col_follow *follow)
{
    free(follow->path);
    free(follow->nodes);
    free(follow->focused);
    free(follow->open);
    free(follow->came);
    col_sums_free(&follow->exclusive);
    col_sums_free(&follow->inclusive);
    col_sums_free(&follow->finished);
    col_sums_free(&follow->unfinished);
    col_call_nodes_free(&follow->tree);
}
