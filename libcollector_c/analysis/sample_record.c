/* sample_record.c -- the columns of one PCSAMPLE record, and the weight of each of its stacks */
#include "sample_record.h"

#include "experiment/format.h"

enum { MOST_SAMPLES = 65536, FIXED_FIELDS = 10 };

static bool read_values(struct col_sample_record *record, struct col_cursor *cursor)
{
    for (uint32_t column = 0; column < record->columns; column++)
        if (!col_columns_read(cursor, record->count, &record->values[column]))
            return false;
    return true;
}

bool col_sample_record_read(struct col_sample_record *record, uint32_t columns, const uint8_t *bytes, size_t count)
{
    struct col_cursor cursor = {bytes, bytes + count};
    uint32_t fields;
    uint64_t kind;
    record->columns = columns;
    if (!col_cursor_read_array(&cursor, &fields) || fields < FIXED_FIELDS + columns ||
        !col_cursor_read_unsigned(&cursor, &kind) || kind != COL_KIND_PCSAMPLE ||
        !col_cursor_read_unsigned(&cursor, &record->time_ns) || !col_cursor_read_unsigned(&cursor, &record->thread) ||
        !col_cursor_read_unsigned(&cursor, &record->source) || !col_cursor_read_unsigned(&cursor, &record->count) ||
        record->count > MOST_SAMPLES || !col_cursor_read_unsigned(&cursor, &record->unit_ns) ||
        !col_columns_read(&cursor, record->count, &record->times) || !read_values(record, &cursor) ||
        !col_columns_read(&cursor, record->count, &record->stacks) ||
        !col_cursor_read_unsigned(&cursor, &record->stack_count) ||
        !col_cursor_read_data(&cursor, &record->definitions))
        return false;
    uint64_t most = record->definitions.count / 2; /* the shortest definition has two bytes */
    if (record->stack_count > most)
        record->stack_count = most;
    return true;
}

static inline uint64_t value_of(const struct col_sample_record *record, uint32_t column, size_t row)
{
    uint64_t value = col_columns_product(record->unit_ns, col_columns_value(&record->values[column], row));
    return value < COL_ANALYSIS_MOST_VALUE ? value : COL_ANALYSIS_MOST_VALUE;
}

static inline uint64_t time_after(const struct col_sample_record *record, uint64_t before_ns, size_t row)
{
    return col_columns_sum(before_ns, col_columns_product(record->unit_ns, col_columns_value(&record->times, row)));
}

static inline bool is_within(uint64_t time_ns, uint64_t start_ns, uint64_t end_ns)
{
    return time_ns >= start_ns && (time_ns < end_ns || end_ns == UINT64_MAX);
}

uint64_t col_sample_record_last_ns(const struct col_sample_record *record)
{
    uint64_t last_ns = record->time_ns;
    for (size_t row = 0; row < record->count; row++)
        last_ns = time_after(record, last_ns, row);
    return last_ns;
}

void col_sample_record_describe(const struct col_sample_record *record, uint64_t offset, uint64_t *head)
{
    head[COL_HEAD_TIME] = record->time_ns;
    head[COL_HEAD_LAST_TIME] = col_sample_record_last_ns(record);
    head[COL_HEAD_THREAD] = record->thread;
    head[COL_HEAD_SOURCE] = record->source;
    head[COL_HEAD_COUNT] = record->count;
    head[COL_HEAD_OFFSET] = offset;
    for (uint32_t column = 0; column < record->columns; column++) {
        uint64_t sum = 0;
        for (size_t row = 0; row < record->count; row++)
            sum += value_of(record, column, row);
        head[COL_HEAD_SUMS + column] = sum;
    }
}

static inline uint64_t stack_of(const struct col_sample_record *record, size_t sample)
{
    uint64_t stack = col_columns_value(&record->stacks, sample);
    return stack < record->stack_count ? stack : record->stack_count;
}

static inline void weigh_one(const struct col_sample_record *record, size_t sample, uint64_t *rows)
{
    uint64_t *row = rows + stack_of(record, sample) * (record->columns + 1);
    for (uint32_t column = 0; column < record->columns; column++)
        row[column] += value_of(record, column, sample);
    row[record->columns]++;
}

void col_sample_record_weigh(const struct col_sample_record *record, uint64_t start_ns, uint64_t end_ns, uint64_t *rows)
{
    uint64_t now_ns = record->time_ns;
    bool is_all = start_ns == 0 && end_ns == UINT64_MAX;
    for (size_t sample = 0; sample < record->count; sample++) {
        if (!is_all) {
            now_ns = time_after(record, now_ns, sample);
            if (!is_within(now_ns, start_ns, end_ns))
                continue;
        }
        weigh_one(record, sample, rows);
    }
}

size_t col_sample_record_list(const struct col_sample_record *record, uint64_t start_ns, uint64_t end_ns,
                              uint64_t *rows, size_t stride)
{
    uint64_t now_ns = record->time_ns;
    size_t count = 0;
    for (size_t sample = 0; sample < record->count; sample++) {
        now_ns = time_after(record, now_ns, sample);
        if (!is_within(now_ns, start_ns, end_ns))
            continue;
        uint64_t *row = rows + count++ * stride;
        row[0] = stack_of(record, sample);
        row[1] = now_ns;
        for (uint32_t column = 0; column < record->columns; column++)
            row[2 + column] = value_of(record, column, sample);
    }
    return count;
}
