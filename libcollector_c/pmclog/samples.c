/* samples.c -- one PCSAMPLE record, handed out sample by sample */
#include "samples.h"

#include <errno.h>

enum { FIELDS = 8 };

static const uint64_t ns_per_second = 1000000000;

static bool read_values(struct col_cursor *record, uint64_t count, struct col_samples *samples)
{
    uint32_t columns;
    if (!col_cursor_read_array(record, &columns) || columns > COL_SAMPLE_MAX_VALUES)
        return false;
    for (uint32_t i = 0; i < columns; i++)
        if (!col_columns_read(record, count, &samples->values[i]))
            return false;
    samples->value_count = columns;
    return true;
}

int col_samples_begin(struct col_samples *samples, struct col_cursor *record, size_t fields, uint64_t time_ns,
                      uint32_t thread)
{
    uint64_t source, count, stack_count;
    struct col_extent definitions;
    samples->next = samples->count = 0;
    if (fields < FIELDS || !col_cursor_read_unsigned(record, &source) || !col_cursor_read_unsigned(record, &count) ||
        count > COL_SAMPLES_MAX_COUNT || !col_cursor_read_unsigned(record, &samples->unit_ns) ||
        !col_columns_read(record, count, &samples->times) || !read_values(record, count, samples) ||
        !col_columns_read(record, count, &samples->places) || !col_cursor_read_unsigned(record, &stack_count) ||
        !col_cursor_read_data(record, &definitions))
        return -EBADMSG;
    if (!col_stacks_define(&samples->stacks, stack_count, definitions.bytes, definitions.count))
        return -ENOMEM;
    samples->source = source > UINT32_MAX ? UINT32_MAX : (uint32_t)source;
    samples->thread = thread;
    samples->time_ns = time_ns;
    samples->count = (size_t)count;
    return 0;
}

static void hand_out_values(struct col_samples *samples, size_t row, struct pmclog_ev_pcsample *sample)
{
    const struct col_source_values *declared = &samples->declared;
    for (uint32_t i = 0; i < samples->value_count; i++) {
        uint64_t value = col_columns_value(&samples->values[i], row);
        bool is_time = (declared->times >> i & 1) != 0;
        samples->numbers[i] = is_time ? col_columns_product(samples->unit_ns, value) : value;
    }
    sample->pl_values = samples->numbers;
    sample->pl_value_count = samples->value_count;
    sample->pl_user_ns = declared->user < samples->value_count ? samples->numbers[declared->user] : 0;
    sample->pl_system_ns = declared->system < samples->value_count ? samples->numbers[declared->system] : 0;
}

void col_samples_next(struct col_samples *samples, struct pmclog_ev *ev)
{
    size_t row = samples->next++;
    uint64_t place = col_columns_value(&samples->places, row);
    struct pmclog_ev_pcsample *sample = &ev->pl_u.pl_s;
    samples->time_ns = col_columns_sum(samples->time_ns,
                                       col_columns_product(samples->unit_ns, col_columns_value(&samples->times, row)));
    ev->pl_state = PMCLOG_OK;
    ev->pl_offset = samples->offset;
    ev->pl_ts.tv_sec = (time_t)(samples->time_ns / ns_per_second);
    ev->pl_ts.tv_nsec = (long)(samples->time_ns % ns_per_second);
    ev->pl_type = PMCLOG_TYPE_PCSAMPLE;
    ev->pl_tid = samples->thread;
    sample->pl_pid = samples->pid;
    sample->pl_pmcid = samples->source;
    hand_out_values(samples, row, sample);
    if (place < samples->stacks.stack_count) {
        const struct col_stack *stack = &samples->stacks.stacks[place];
        const uint64_t *chain = samples->stacks.frames + stack->first;
        sample->pl_chain = chain;
        sample->pl_npc = stack->count;
        sample->pl_end = stack->end;
        sample->pl_pc = stack->count > 0 ? chain[0] : 0;
    } else {
        sample->pl_chain = NULL;
        sample->pl_npc = 0;
        sample->pl_end = PMCLOG_END_NO_UNWIND_INFO;
        sample->pl_pc = 0;
    }
}
