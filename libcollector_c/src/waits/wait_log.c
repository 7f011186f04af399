/* wait_log.c -- sums of threads become samples */
#include "waits/wait_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text_format.h"
#include "experiment/event.h"
#include "experiment/log_writer.h"
#include "experiment/stack_table.h"
#include "target/java_method.h"
#include "target/own_beginning.h"
#include "target/python_code.h"

#define LOG_NAME "waits.log"
#define UNIT_NS 1000u
#define VALUES 4u        /* blocked, runnable, looks, and the variance of the first */
#define VARIANCE_NS2 1e8 /* its unit */
#define ROWS_BYTES (COL_FRAME_MAX_BYTES / 2)
#define NAME_BYTES 32
#define WORTH_TELLING_PERCENT 5
#define PREEMPTED ((UINT64_C(2) << 56) - 2) /* stands for the stack of time in which a thread had been preempted */
#define UNSEEN ((UINT64_C(2) << 56) - 1)    /* and of waits that nobody looked at */

static struct {
    const char *way, *detail;
    uint64_t looks_ns;
    uint32_t source_count;
    uint64_t sample_count;
    uint64_t blocked_ns, late_ns; /* in rows that have a stack: late is what they were ready for */
    struct col_stack_table *stacks;
    uint8_t *rows;
    size_t row_bytes;
} self;

int col_wait_log_open(const char *experiment, const char *way, const char *detail, uint64_t looks_ns)
{
    self.stacks = calloc(1, sizeof *self.stacks);
    self.rows = malloc(ROWS_BYTES);
    int error =
        self.stacks != NULL && self.rows != NULL ? col_log_writer_open_named(experiment, LOG_NAME, getpid()) : -ENOMEM;
    self.way = way;
    self.detail = detail;
    self.looks_ns = looks_ns;
    col_python_code_watch();
    col_java_method_watch();
    if (error == 0)
        col_own_beginning_write();
    return error;
}

static uint32_t source_of(struct col_waiting_process *process, enum col_wait_cause cause, uint64_t time_ns)
{
    char blocked[NAME_BYTES];
    const char *const values[VALUES] = {blocked, "runnable ns", "looks", "variance 1e-10s2"};
    if (process->sources[cause] != 0)
        return process->sources[cause];
    col_text_print_into(blocked, sizeof blocked, "blocked_%s ns", col_wait_cause_name(cause));
    struct col_event_pmcallocate source = {.source = ++self.source_count,
                                           .name = "waits",
                                           .clock = self.way,
                                           .unit = "ns",
                                           .period_ns = self.looks_ns,
                                           .effective_period_ns = self.looks_ns,
                                           .detail = self.detail,
                                           .values = values,
                                           .value_count = VALUES,
                                           .counted_as = "wait-rows"};
    struct col_event_head head = {time_ns, 0};
    process->sources[cause] = self.source_count;
    col_event_pmcallocate(head, &source);
    col_event_pmcattach(head, &(struct col_event_pmcattach){.source = source.source, .pid = process->pid});
    return process->sources[cause];
}

static enum col_wait_cause cause_of(const struct col_wait_sum *sum)
{
    return sum->stack != NULL ? (enum col_wait_cause)sum->stack->cause : COL_WAIT_UNKNOWN;
}

static uint32_t in_units(uint64_t ns)
{
    uint64_t units = (ns + UNIT_NS / 2) / UNIT_NS;
    return units < UINT32_MAX ? (uint32_t)units : UINT32_MAX; /* 71 minutes, and no wait is written as rarely */
}

static void write_rows(struct col_waiting_thread *thread, uint64_t time_ns, enum col_wait_cause cause)
{
    struct col_event_pcsample samples = {
        .source = source_of(thread->process, cause, time_ns),
        .unit_ns = UNIT_NS,
        .rows = {.start = self.rows, .bytes = (uint32_t)self.row_bytes, .value_count = VALUES}};
    if (col_event_pcsample((struct col_event_head){time_ns, thread->tid}, &samples) == 0)
        self.sample_count += samples.rows.count;
    self.row_bytes = 0;
    col_stack_table_reset(self.stacks);
}

static uint32_t in_variance_units(double ns2)
{
    double units = ns2 / VARIANCE_NS2 + 0.5;
    return units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
}

/* False: it does not fit any more. */
static bool add_row(const struct col_wait_sum *sum)
{
    uintptr_t stand_in = sum->blocked_ns == 0 ? PREEMPTED : UNSEEN;
    struct col_stack stack = {&stand_in, 1, COL_END_COMPLETE};
    if (sum->stack != NULL)
        stack = (struct col_stack){sum->stack->pcs, sum->stack->count, sum->stack->end};
    uint64_t hash = col_stack_table_hash(&stack);
    uint32_t index, row_bytes = COL_SAMPLE_ROW_BYTES(VALUES),
                    values[VALUES] = {in_units(sum->blocked_ns), in_units(sum->ready_ns), sum->look_count,
                                      in_variance_units(sum->variance_ns2)};
    size_t definition_bytes = 0;
    if (self.row_bytes + row_bytes + col_stack_table_bound(self.stacks, &stack) > ROWS_BYTES ||
        self.stacks->stack_count == COL_STACK_TABLE_STACKS)
        return false;
    uint8_t *at = self.rows + self.row_bytes;
    if (!col_stack_table_find(self.stacks, hash, &index)) {
        index = self.stacks->stack_count;
        definition_bytes = col_stack_table_define(self.stacks, hash, &stack, at + row_bytes);
    }
    col_sample_row_put(at, 0, values, VALUES, index, definition_bytes);
    self.row_bytes += row_bytes + definition_bytes;
    return true;
}

/* Rows share what their thread was ready for by guess: where that is much, no row of short waits is certain. */
static void tell_late(void)
{
    char text[280];
    uint64_t percent = self.late_ns / ((self.blocked_ns + self.late_ns) / 100 + 1);
    if (percent < WORTH_TELLING_PERCENT)
        return;
    col_text_print_into(
        text, sizeof text,
        "the machine was busy: threads that had been woken waited for a processor, %u %% of the time; whose waits "
        "that lengthened is not known, and functions whose waits are short may be off by as much time as their "
        "threads were runnable, more than --errors says",
        (unsigned)percent);
    col_event_message((struct col_event_head){col_clock_now(), 0},
                      &(struct col_event_message){.severity = 1, .text = text, .count = 1});
}

static void add_cause(struct col_waiting_thread *thread, uint64_t time_ns, const struct col_wait_sum *sums,
                      size_t count, enum col_wait_cause cause)
{
    for (size_t i = 0; i < count; i++) {
        if (cause_of(&sums[i]) != cause || add_row(&sums[i]))
            continue;
        write_rows(thread, time_ns, cause);
        add_row(&sums[i]);
    }
    if (self.row_bytes != 0)
        write_rows(thread, time_ns, cause);
}

void col_wait_log_add(struct col_waiting_thread *thread, uint64_t time_ns, const struct col_wait_sum *sums,
                      size_t count)
{
    unsigned causes = 0;
    for (size_t i = 0; i < count; i++) {
        causes |= 1u << cause_of(&sums[i]);
        self.blocked_ns += sums[i].stack != NULL ? sums[i].blocked_ns : 0;
        self.late_ns += sums[i].stack != NULL ? sums[i].ready_ns : 0;
    }
    for (enum col_wait_cause cause = 0; cause < COL_WAIT_CAUSES; cause++)
        if (causes & 1u << cause)
            add_cause(thread, time_ns, sums, count, cause);
}

void col_wait_log_tell(const char *subject, const char *sentence, uint64_t count)
{
    if (count != 0)
        col_event_message((struct col_event_head){col_clock_now(), 0},
                          &(struct col_event_message){.text = sentence, .count = count, .subject = subject});
}

void col_wait_log_close(void)
{
    uint64_t byte_count;
    struct col_event_closelog totals = {.reason = COL_CLOSE_EXIT, .sample_count = self.sample_count};
    tell_late();
    col_log_writer_begin_end();
    col_clock_process_times(&totals.user_ns, &totals.system_ns);
    col_log_writer_counts(&totals.frame_count, &byte_count);
    col_event_closelog((struct col_event_head){col_clock_now(), 0}, &totals);
    col_log_writer_close();
    free(self.stacks);
    free(self.rows);
    self.stacks = NULL;
    self.rows = NULL;
}
