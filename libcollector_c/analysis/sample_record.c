/* sample_record.c -- the columns of one PCSAMPLE record, and the weight of each of its stacks */
#include "sample_record.h"

#include <string.h>

enum { HEAD_FIELDS = 3 };

bool col_sample_record_read(struct col_sample_record *record, const uint8_t *bytes, size_t count)
{
    struct col_cursor cursor = {bytes, bytes + count};
    uint32_t fields;
    uint64_t kind;
    record->placed_count = 0;
    if (!col_cursor_read_array(&cursor, &fields) || fields < HEAD_FIELDS + COL_SAMPLE_FIELDS ||
        !col_cursor_read_unsigned(&cursor, &kind) || kind != COL_KIND_PCSAMPLE ||
        !col_cursor_read_unsigned(&cursor, &record->time_ns) || !col_cursor_read_unsigned(&cursor, &record->thread) ||
        !col_sample_fields_read(&cursor, &record->fields))
        return false;
    uint64_t most = record->fields.definitions.count / 2; /* the shortest definition has two bytes */
    if (record->fields.stack_count > most)
        record->fields.stack_count = most;
    return true;
}

void col_sample_record_lay_out(struct col_sample_record *record, const struct col_layout *layout, uint32_t columns)
{
    record->columns = columns;
    record->counted_in = layout->counted_in;
    record->placed_count = 0;
    for (uint32_t value = 0; value < record->fields.value_count; value++)
        if (layout->columns[value] != COL_ANALYSIS_NONE)
            record->placed[record->placed_count++] = (struct col_placed_value){
                value, layout->columns[value], layout->times >> value & 1 ? record->fields.unit_ns : 1};
}

static inline uint64_t value_of(const struct col_column *column, uint64_t unit, size_t row)
{
    uint64_t value = col_columns_product(unit, col_columns_value(column, row));
    return value < COL_ANALYSIS_MOST_VALUE ? value : COL_ANALYSIS_MOST_VALUE;
}

static inline uint64_t time_after(const struct col_sample_record *record, uint64_t before_ns, size_t row)
{
    return col_columns_sum(before_ns,
                           col_columns_product(record->fields.unit_ns, col_columns_value(&record->fields.times, row)));
}

static inline bool is_within(uint64_t time_ns, uint64_t start_ns, uint64_t end_ns)
{
    return time_ns >= start_ns && (time_ns < end_ns || end_ns == UINT64_MAX);
}

uint64_t col_sample_record_last_ns(const struct col_sample_record *record)
{
    uint64_t last_ns = record->time_ns;
    for (size_t row = 0; row < record->fields.count; row++)
        last_ns = time_after(record, last_ns, row);
    return last_ns;
}

void col_sample_record_describe(const struct col_sample_record *record, uint64_t offset, uint64_t *head)
{
    head[COL_HEAD_TIME] = record->time_ns;
    head[COL_HEAD_LAST_TIME] = col_sample_record_last_ns(record);
    head[COL_HEAD_THREAD] = record->thread;
    head[COL_HEAD_SOURCE] = record->fields.source;
    head[COL_HEAD_COUNT] = record->fields.count;
    head[COL_HEAD_OFFSET] = offset;
    for (uint32_t value = 0; value < COL_ANALYSIS_MOST_VALUES; value++) {
        uint64_t sum = 0;
        for (size_t row = 0; value < record->fields.value_count && row < record->fields.count; row++)
            sum += value_of(&record->fields.values[value], record->fields.unit_ns, row);
        head[COL_HEAD_SUMS + value] = sum;
    }
}

static inline uint64_t stack_of(const struct col_sample_record *record, size_t sample)
{
    uint64_t stack = col_columns_value(&record->fields.stacks, sample);
    return stack < record->fields.stack_count ? stack : record->fields.stack_count;
}

static inline void add_figures(const struct col_sample_record *record, size_t sample, uint64_t *row)
{
    for (uint32_t i = 0; i < record->placed_count; i++) {
        const struct col_placed_value *placed = &record->placed[i];
        row[placed->column] += value_of(&record->fields.values[placed->value], placed->unit, sample);
    }
    if (record->counted_in != COL_ANALYSIS_NONE)
        row[record->counted_in]++;
}

static inline void weigh_one(const struct col_sample_record *record, size_t sample, uint64_t *rows)
{
    uint64_t *row = rows + stack_of(record, sample) * (record->columns + 1);
    add_figures(record, sample, row);
    row[record->columns]++;
}

void col_sample_record_weigh(const struct col_sample_record *record, uint64_t start_ns, uint64_t end_ns, uint64_t *rows)
{
    uint64_t now_ns = record->time_ns;
    bool is_all = start_ns == 0 && end_ns == UINT64_MAX;
    for (size_t sample = 0; sample < record->fields.count; sample++) {
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
    for (size_t sample = 0; sample < record->fields.count; sample++) {
        now_ns = time_after(record, now_ns, sample);
        if (!is_within(now_ns, start_ns, end_ns))
            continue;
        uint64_t *row = rows + count++ * stride;
        row[0] = stack_of(record, sample);
        row[1] = now_ns;
        memset(row + 2, 0, record->columns * sizeof *row);
        add_figures(record, sample, row + 2);
    }
    return count;
}
