/* samples.c -- one PCSAMPLE record, handed out sample by sample */
#include "samples.h"

#include <errno.h>

static const uint64_t ns_per_second = 1000000000;

int col_samples_begin(struct col_samples *samples, struct col_cursor *record, size_t fields, uint64_t time_ns,
                      uint32_t thread)
{
    const struct col_sample_fields *read = &samples->fields;
    samples->next = samples->count = 0;
    if (fields < COL_SAMPLE_FIELDS || !col_sample_fields_read(record, &samples->fields))
        return -EBADMSG;
    if (!col_stacks_define(&samples->stacks, read->stack_count, read->definitions.bytes, read->definitions.count))
        return -ENOMEM;
    samples->source = read->source > UINT32_MAX ? UINT32_MAX : (uint32_t)read->source;
    samples->thread = thread;
    samples->time_ns = time_ns;
    samples->count = (size_t)read->count;
    return 0;
}

static void hand_out_values(struct col_samples *samples, size_t row, struct pmclog_ev_pcsample *sample)
{
    const struct col_source_values *declared = &samples->declared;
    for (uint32_t i = 0; i < samples->fields.value_count; i++) {
        uint64_t value = col_columns_value(&samples->fields.values[i], row);
        bool is_time = (declared->times >> i & 1) != 0;
        samples->numbers[i] = is_time ? col_columns_product(samples->fields.unit_ns, value) : value;
    }
    sample->pl_values = samples->numbers;
    sample->pl_value_count = samples->fields.value_count;
    sample->pl_user_ns = declared->user < samples->fields.value_count ? samples->numbers[declared->user] : 0;
    sample->pl_system_ns = declared->system < samples->fields.value_count ? samples->numbers[declared->system] : 0;
}

void col_samples_next(struct col_samples *samples, struct pmclog_ev *ev)
{
    size_t row = samples->next++;
    uint64_t place = col_columns_value(&samples->fields.stacks, row);
    struct pmclog_ev_pcsample *sample = &ev->pl_u.pl_s;
    samples->time_ns = col_columns_sum(
        samples->time_ns, col_columns_product(samples->fields.unit_ns, col_columns_value(&samples->fields.times, row)));
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
