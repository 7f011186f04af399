/* ompt.c -- a tool of OpenMP's own interface that counts the regions of the program it is linked into, and looks at what it is told of each */
#include <omp-tools.h>
#include <stdio.h>

static int region_count, odd_count;

static void region_begins(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region, unsigned wanted, int flags, const void *from)
{
    (void)task, (void)wanted, (void)flags;
    region->value = (uint64_t)__sync_add_and_fetch(&region_count, 1);
    odd_count += frame == NULL || from == NULL;
}

static void region_ends(ompt_data_t *region, ompt_data_t *task, int flags, const void *from)
{
    (void)task, (void)flags, (void)from;
    odd_count += region->value == 0;
}

static int begin(ompt_function_lookup_t look_up, int device, ompt_data_t *data)
{
    (void)device, (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)look_up("ompt_set_callback");
    set(ompt_callback_parallel_begin, (ompt_callback_t)region_begins);
    set(ompt_callback_parallel_end, (ompt_callback_t)region_ends);
    return 1;
}

static void end(ompt_data_t *data)
{
    (void)data;
    printf("%d regions, %d odd\n", region_count, odd_count);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = {begin, end, {0}};
    (void)version, (void)runtime;
    return &tool;
}
