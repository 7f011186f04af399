/* executable_mappings.c -- code that belongs to no module: what just-in-time compilers made */
#include "target/executable_mappings.h"

#include <fcntl.h>
#include <stddef.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/sparse.h"
#include "target/range_table.h"

enum {
    CHUNK_BYTES = 512,     /* read on the stack of a signal handler */
    REST_PER_READING = 50, /* after a reading that took t, none for 50 t: at most 2 % of the time goes into it */
    SHORTEST_REST_NS = 10000000,
    MOST_DOUBLINGS = 8, /* after readings in vain the rest grows up to 2^8 times as long */
};

static struct {
    uint64_t next_reading_ns;
    unsigned readings_in_vain; /* in a row, that did not know the address either */
    void (*met)(uintptr_t start, uintptr_t end, uint64_t file_offset); /* NULL: nobody */
} self;

static struct col_range_table ranges COL_SPARSE;

/* Reads lines "low-high rwxp offset ..." from a stream of characters that comes in chunks. */
struct line_reader {
    enum { IN_LOW, IN_HIGH, IN_FLAGS, IN_OFFSET, IN_REST } state;
    uintptr_t low, high, offset;
    unsigned flag_count;
    bool is_executable;
};

static uintptr_t append_hex_digit(uintptr_t number, char digit)
{
    unsigned value = digit <= '9' ? (unsigned)digit - '0' : (unsigned)digit - 'a' + 10;
    return number << 4 | (value & 0xf);
}

static void read_character(struct line_reader *line, char c, struct col_range_side *side)
{
    switch (line->state) {
    case IN_LOW:
        if (c == '-')
            line->state = IN_HIGH;
        else
            line->low = append_hex_digit(line->low, c);
        break;
    case IN_HIGH:
        if (c == ' ')
            line->state = IN_FLAGS;
        else
            line->high = append_hex_digit(line->high, c);
        break;
    case IN_FLAGS:
        line->is_executable |= c == 'x';
        if (++line->flag_count == 5) /* with the blank behind them */
            line->state = IN_OFFSET;
        break;
    case IN_OFFSET:
        if (c == ' ')
            line->state = IN_REST;
        else
            line->offset = append_hex_digit(line->offset, c);
        break;
    case IN_REST:
        if (c != '\n')
            break;
        if (line->is_executable && line->high >> COL_ARCH_ADDRESS_BITS == 0) {
            col_range_table_add(side, (struct col_range){line->low, line->high, 0});
            if (self.met != NULL)
                self.met(line->low, line->high, line->offset);
        }
        *line = (struct line_reader){.state = IN_LOW};
    }
}

/* False when the file could not be read to its end: then the old ranges are better than half of the new. */
static bool read_mappings(struct col_range_side *side)
{
    struct line_reader line = {.state = IN_LOW};
    char chunk[CHUNK_BYTES];
    ssize_t count;
    int fd = col_os_open("/proc/self/maps", O_RDONLY, 0);
    if (fd < 0)
        return false;
    while ((count = col_os_read(fd, chunk, sizeof chunk)) > 0)
        for (ssize_t i = 0; i < count; i++)
            read_character(&line, chunk[i], side);
    col_os_close(fd);
    return count == 0;
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
    if (begun_ns < __atomic_load_n(&self.next_reading_ns, __ATOMIC_RELAXED))
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
    if (col_range_table_find(&ranges, address, &range))
        return true;
    if (!may_read || !read_again_if_rested())
        return false;
    bool is_covered = col_range_table_find(&ranges, address, &range);
    if (is_covered)
        __atomic_store_n(&self.readings_in_vain, 0, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(&self.readings_in_vain, 1, __ATOMIC_RELAXED);
    return is_covered;
}

void col_executable_mappings_observe(void (*met)(uintptr_t start, uintptr_t end, uint64_t file_offset))
{
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
