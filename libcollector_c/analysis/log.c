/* log.c -- one log: where its samples are, whose they are, what its addresses mean */
#define _GNU_SOURCE /* qsort_r */

#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool keep(struct col_log *log, struct col_log_record *record, const uint8_t *bytes, size_t count)
{
    if (!COL_ARRAY_RESERVE(log->kept, log->kept_capacity, log->kept_bytes + count + COL_LOG_SLACK_BYTES))
        return false;
    memcpy(log->kept + log->kept_bytes, bytes, count);
    record->kept = log->kept_bytes + 1;
    log->kept_bytes += count;
    return true;
}

bool col_log_add_record(struct col_log *log, const uint8_t *bytes, size_t count, uint64_t offset, bool must_keep)
{
    if (count > UINT32_MAX || log->record_count >= UINT32_MAX ||
        !COL_ARRAY_RESERVE(log->records, log->record_capacity, log->record_count + 1))
        return false;
    struct col_log_record *record = &log->records[log->record_count];
    *record = (struct col_log_record){.offset = offset, .bytes = (uint32_t)count, .thread = COL_ANALYSIS_NONE};
    bool is_kept = must_keep || log->kept_bytes + count <= COL_LOG_KEPT_BYTES;
    if (is_kept && !keep(log, record, bytes, count))
        return false;
    log->is_in_file |= !is_kept;
    log->record_count++;
    return true;
}

const uint8_t *col_log_record_bytes(const struct col_log *log, const struct col_log_record *record, int fd,
                                    uint8_t **buffer, size_t *capacity)
{
    if (record->kept > 0)
        return log->kept + record->kept - 1;
    if (!col_array_reserve((void **)buffer, capacity, record->bytes + (size_t)COL_LOG_SLACK_BYTES, 1))
        return NULL;
    return pread(fd, *buffer, record->bytes, (off_t)record->offset) == (ssize_t)record->bytes ? *buffer : NULL;
}

static int compare_threads(const void *left, const void *right, void *records)
{
    const struct col_log_record *of = records;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    if (of[a].thread != of[b].thread)
        return of[a].thread < of[b].thread ? -1 : 1;
    return a < b ? -1 : a > b;
}

static bool put_in_order(struct col_log *log)
{
    if (!COL_ARRAY_RESERVE(log->order, log->order_capacity, log->record_count))
        return false;
    log->order_count = 0;
    for (size_t number = 0; number < log->record_count; number++)
        if (log->records[number].thread != COL_ANALYSIS_NONE)
            log->order[log->order_count++] = (uint32_t)number;
    if (log->order_count > 1)
        qsort_r(log->order, log->order_count, sizeof *log->order, compare_threads, log->records);
    return true;
}

static void *copy_of(const void *items, size_t count, size_t item_bytes)
{
    void *copy = malloc((count + 1) * item_bytes);
    if (copy && count > 0)
        memcpy(copy, items, count * item_bytes);
    return copy;
}

int col_log_attribute(struct col_log *log, const struct col_owners *owners, const struct col_segment *segments,
                      size_t segment_count, uint32_t own_space)
{
    if (owners->record_count != log->record_count)
        return -EINVAL;
    for (size_t number = 0; number < log->record_count; number++) {
        if (owners->layout_numbers[number] >= owners->layout_count)
            return -EINVAL;
        log->records[number].thread = owners->threads[number];
        log->records[number].layout = owners->layout_numbers[number];
    }
    free(log->segments);
    free(log->layouts);
    log->segments = copy_of(segments, segment_count, sizeof *segments);
    log->layouts = copy_of(owners->layouts, owners->layout_count, sizeof *owners->layouts);
    if (!log->segments || !log->layouts || !put_in_order(log))
        return -ENOMEM;
    log->segment_count = segment_count;
    log->own_space = own_space;
    return 0;
}

const struct col_segment *col_log_segment_of(const struct col_log *log, uint64_t address)
{
    size_t low = 0, high = log->segment_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (log->segments[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < log->segment_count && log->segments[low].start <= address ? &log->segments[low] : NULL;
}

void col_log_free(struct col_log *log)
{
    free(log->records);
    free(log->order);
    free(log->kept);
    free(log->caller_entries);
    free(log->leaf_entries);
    free(log->segments);
    free(log->layouts);
    col_addresses_free(&log->addresses);
}
