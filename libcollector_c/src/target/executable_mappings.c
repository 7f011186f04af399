/* executable_mappings.c -- code that belongs to no module: what just-in-time compilers made */
#include "target/executable_mappings.h"

#include <stddef.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sparse.h"
#include "target/mapping_lines.h"
#include "target/range_table.h"
#include "target/stack_room.h"

enum {
    CHUNK_BYTES = 512,
    REST_PER_READING = 50, /* after a reading that took t, none for 50 t: at most 2 % of the time goes into it */
    SHORTEST_REST_NS = 10000000,
    ROOM_BYTES = 1024,  /* of stack that a reading may need */
    MOST_DOUBLINGS = 8, /* after readings in vain the rest grows up to 2^8 times as long */
};

static struct {
    uint64_t next_reading_ns;
    unsigned readings_in_vain; /* in a row, that did not know the address either */
    bool owes_observer;        /* the last reading had no room to tell whoever observes it */
    void (*met)(uintptr_t start, uintptr_t end, uint64_t file_offset); /* NULL: nobody */
    size_t met_bytes;                                                  /* of stack that it needs */
    char chunk[CHUNK_BYTES]; /* of whoever fills a side of the ranges, rather than on a stack that may be small */
} self;

static struct col_range_table ranges COL_SPARSE;

/* False when the file could not be read to its end: then the old ranges are better than half of the new. A function of its own, so that its stack is not that of every question. */
static __attribute__((noinline)) bool read_mappings(struct col_range_side *side)
{
    struct col_mapping_lines lines;
    struct col_mapping mapping;
    bool is_observed = self.met != NULL, can_tell = is_observed && col_stack_room_has(self.met_bytes);
    if (!col_mapping_lines_open(&lines, "/proc/self/maps", self.chunk, sizeof self.chunk))
        return false;
    while (col_mapping_lines_next(&lines, &mapping)) {
        if (!mapping.is_executable || mapping.high >> COL_ARCH_ADDRESS_BITS != 0)
            continue;
        col_range_table_add(side, (struct col_range){mapping.low, mapping.high, 0});
        if (can_tell)
            self.met(mapping.low, mapping.high, mapping.file_offset);
    }
    __atomic_store_n(&self.owes_observer, is_observed && !can_tell, __ATOMIC_RELAXED);
    return col_mapping_lines_close(&lines);
}

static void rest(uint64_t begun_ns)
{
    uint64_t ended_ns = col_clock_now(), rest_ns = (ended_ns - begun_ns) * REST_PER_READING;
    unsigned doublings = __atomic_load_n(&self.readings_in_vain, __ATOMIC_RELAXED);
    rest_ns = rest_ns > SHORTEST_REST_NS ? rest_ns : SHORTEST_REST_NS;
    rest_ns <<= doublings < MOST_DOUBLINGS ? doublings : MOST_DOUBLINGS;
    __atomic_store_n(&self.next_reading_ns, ended_ns + rest_ns, __ATOMIC_RELAXED);
}

/* False when nothing new was learnt. */
static bool read_again_if_rested(void)
{
    uint64_t begun_ns = col_clock_now();
    if (begun_ns < __atomic_load_n(&self.next_reading_ns, __ATOMIC_RELAXED) || !col_stack_room_has(ROOM_BYTES))
        return false;
    struct col_range_side *side = col_range_table_begin(&ranges);
    if (!side)
        return false;
    bool is_complete = read_mappings(side);
    rest(begun_ns);
    if (is_complete)
        col_range_table_finish(&ranges, side);
    else
        col_range_table_cancel(&ranges, side);
    return is_complete;
}

bool col_executable_mappings_cover(uintptr_t address, bool may_read)
{
    struct col_range range;
    if (col_range_table_find(&ranges, address, &range)) {
        if (may_read && __atomic_load_n(&self.owes_observer, __ATOMIC_RELAXED) && col_stack_room_has(self.met_bytes))
            read_again_if_rested();
        return true;
    }
    if (!may_read || !read_again_if_rested())
        return false;
    bool is_covered = col_range_table_find(&ranges, address, &range);
    if (is_covered)
        __atomic_store_n(&self.readings_in_vain, 0, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(&self.readings_in_vain, 1, __ATOMIC_RELAXED);
    return is_covered;
}

void col_executable_mappings_observe(void (*met)(uintptr_t start, uintptr_t end, uint64_t file_offset),
                                     size_t room_bytes)
{
    self.met_bytes = room_bytes;
    self.met = met;
}

bool col_executable_mappings_were_asked(void)
{
    return __atomic_load_n(&self.next_reading_ns, __ATOMIC_RELAXED) != 0;
}

void col_executable_mappings_after_fork(void)
{
    col_range_table_after_fork(&ranges);
}
