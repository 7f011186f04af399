/* range_table.c -- address ranges that a signal handler looks up while another thread replaces them */
#include "target/range_table.h"

#include <stddef.h>

/* Readers look at ranges while they change, and find out afterwards: so each word is read and written by itself. */
static struct col_range load(const struct col_range *from)
{
    return (struct col_range){__atomic_load_n(&from->low, __ATOMIC_RELAXED),
                              __atomic_load_n(&from->high, __ATOMIC_RELAXED),
                              __atomic_load_n(&from->payload, __ATOMIC_RELAXED)};
}

static void store(struct col_range *to, struct col_range range)
{
    __atomic_store_n(&to->low, range.low, __ATOMIC_RELAXED);
    __atomic_store_n(&to->high, range.high, __ATOMIC_RELAXED);
    __atomic_store_n(&to->payload, range.payload, __ATOMIC_RELAXED);
}

static uint32_t count_of(const struct col_range_side *side)
{
    uint32_t count = __atomic_load_n(&side->count, __ATOMIC_RELAXED);
    return count <= COL_RANGE_TABLE_SIZE ? count : 0;
}

static void set_count(struct col_range_side *side, uint32_t count)
{
    __atomic_store_n(&side->count, count, __ATOMIC_RELAXED);
}

/* The first range that ends behind `address`. */
static uint32_t search(const struct col_range_side *side, uint32_t count, uintptr_t address)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (load(&side->ranges[middle]).high <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool col_range_table_find(struct col_range_table *table, uintptr_t address, struct col_range *found)
{
    for (int attempt = 0; attempt < 3; attempt++) {
        const struct col_range_side *side = &table->side[__atomic_load_n(&table->active, __ATOMIC_ACQUIRE)];
        uint32_t version = __atomic_load_n(&side->version, __ATOMIC_ACQUIRE);
        uint32_t count = count_of(side), place = search(side, count, address);
        struct col_range copy = {UINTPTR_MAX, 0, 0};
        if (place < count)
            copy = load(&side->ranges[place]);
        bool is_covered = copy.low <= address && address < copy.high;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if ((version & 1) == 0 && version == __atomic_load_n(&side->version, __ATOMIC_RELAXED)) {
            *found = copy;
            return is_covered;
        }
    }
    return false;
}

struct col_range_side *col_range_table_begin(struct col_range_table *table)
{
    if (__atomic_test_and_set(&table->is_writing, __ATOMIC_ACQUIRE))
        return NULL;
    struct col_range_side *side = &table->side[!__atomic_load_n(&table->active, __ATOMIC_RELAXED)];
    __atomic_fetch_add(&side->version, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    set_count(side, 0);
    return side;
}

void col_range_table_add(struct col_range_side *side, struct col_range range)
{
    uint32_t count = count_of(side);
    struct col_range last = count ? load(&side->ranges[count - 1]) : (struct col_range){0, 0, 0};
    if (count && last.high == range.low && last.payload == range.payload) {
        store(&side->ranges[count - 1], (struct col_range){last.low, range.high, range.payload});
    } else if (count < COL_RANGE_TABLE_SIZE) {
        store(&side->ranges[count], range);
        set_count(side, count + 1);
    }
}

/* Insertion sort: the ranges come nearly sorted, and qsort may allocate. */
static void sort(struct col_range_side *side)
{
    for (uint32_t i = 1; i < count_of(side); i++) {
        struct col_range moving = load(&side->ranges[i]);
        uint32_t place = i;
        for (; place > 0 && load(&side->ranges[place - 1]).low > moving.low; place--)
            store(&side->ranges[place], load(&side->ranges[place - 1]));
        store(&side->ranges[place], moving);
    }
}

void col_range_table_finish(struct col_range_table *table, struct col_range_side *side)
{
    sort(side);
    __atomic_fetch_add(&side->version, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&table->active, side == &table->side[1], __ATOMIC_RELEASE);
    __atomic_clear(&table->is_writing, __ATOMIC_RELEASE);
}

void col_range_table_cancel(struct col_range_table *table, struct col_range_side *side)
{
    set_count(side, 0);
    __atomic_fetch_add(&side->version, 1, __ATOMIC_RELEASE);
    __atomic_clear(&table->is_writing, __ATOMIC_RELEASE);
}

void col_range_table_after_fork(struct col_range_table *table)
{
    struct col_range_side *side = &table->side[!__atomic_load_n(&table->active, __ATOMIC_RELAXED)];
    if (__atomic_load_n(&side->version, __ATOMIC_RELAXED) & 1)
        col_range_table_cancel(table, side);
    else
        __atomic_clear(&table->is_writing, __ATOMIC_RELEASE);
}
