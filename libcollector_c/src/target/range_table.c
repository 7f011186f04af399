/* range_table.c -- address ranges that a signal handler looks up while another thread replaces them */
#include "target/range_table.h"

#include <stddef.h>

/* The first range that ends behind `address`. */
static uint32_t search(const struct col_range_side *side, uint32_t count, uintptr_t address)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (side->ranges[middle].high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool col_range_table_find(struct col_range_table *table, uintptr_t address, struct col_range *found)
{
    for (int attempt = 0; attempt < 3; attempt++) {
        const struct col_range_side *side = &table->side[atomic_load_explicit(&table->active, memory_order_acquire)];
        uint32_t version = atomic_load_explicit(&side->version, memory_order_acquire);
        uint32_t count = side->count <= COL_RANGE_TABLE_SIZE ? side->count : 0;
        uint32_t place = search(side, count, address);
        bool is_covered = place < count && side->ranges[place].low <= address;
        struct col_range copy = {0, 0, 0};
        if (is_covered)
            copy = side->ranges[place];
        atomic_thread_fence(memory_order_acquire);
        if ((version & 1) == 0 && version == atomic_load_explicit(&side->version, memory_order_relaxed)) {
            *found = copy;
            return is_covered;
        }
    }
    return false;
}

struct col_range_side *col_range_table_begin(struct col_range_table *table)
{
    if (atomic_flag_test_and_set_explicit(&table->is_writing, memory_order_acquire))
        return NULL;
    struct col_range_side *side = &table->side[!atomic_load_explicit(&table->active, memory_order_relaxed)];
    atomic_fetch_add_explicit(&side->version, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    side->count = 0;
    return side;
}

void col_range_table_add(struct col_range_side *side, struct col_range range)
{
    struct col_range *last = side->count ? &side->ranges[side->count - 1] : NULL;
    if (last && last->high == range.low && last->payload == range.payload)
        last->high = range.high;
    else if (side->count < COL_RANGE_TABLE_SIZE)
        side->ranges[side->count++] = range;
}

/* Insertion sort: the ranges come nearly sorted, and qsort may allocate. */
static void sort(struct col_range_side *side)
{
    for (uint32_t i = 1; i < side->count; i++) {
        struct col_range moving = side->ranges[i];
        uint32_t place = i;
        for (; place > 0 && side->ranges[place - 1].low > moving.low; place--)
            side->ranges[place] = side->ranges[place - 1];
        side->ranges[place] = moving;
    }
}

void col_range_table_finish(struct col_range_table *table, struct col_range_side *side)
{
    sort(side);
    atomic_fetch_add_explicit(&side->version, 1, memory_order_release);
    atomic_store_explicit(&table->active, side == &table->side[1], memory_order_release);
    atomic_flag_clear_explicit(&table->is_writing, memory_order_release);
}

void col_range_table_cancel(struct col_range_table *table, struct col_range_side *side)
{
    side->count = 0;
    atomic_fetch_add_explicit(&side->version, 1, memory_order_release);
    atomic_flag_clear_explicit(&table->is_writing, memory_order_release);
}

void col_range_table_after_fork(struct col_range_table *table)
{
    struct col_range_side *side = &table->side[!atomic_load_explicit(&table->active, memory_order_relaxed)];
    if (atomic_load_explicit(&side->version, memory_order_relaxed) & 1)
        col_range_table_cancel(table, side);
    else
        atomic_flag_clear_explicit(&table->is_writing, memory_order_release);
}
