/* open_slots.c -- the place of open frames, at the end of the log: who has which slot */
#include "experiment/open_slots.h"

#include <errno.h>
#include <string.h>

#include "base/os.h"
#include "base/safe_read.h"
#include "base/sparse.h"
#include "experiment/format.h"
#include "experiment/sparse_file.h"

#define SLOT_COUNT 65536u
#define WINDOW_SLOTS (COL_SPARSE_WINDOW_BYTES / COL_OPEN_SLOT_BYTES)
#define WINDOW_COUNT (SLOT_COUNT / WINDOW_SLOTS)
#define WORD_BITS 64u
#define FEW_SLOTS 8u

_Static_assert(sizeof(struct col_open_slot) == COL_OPEN_HEADER_BYTES, "the header of a slot");
_Static_assert(WINDOW_SLOTS == WORD_BITS, "a word of `taken` stands for a window");

static struct {
    uint32_t slot_count; /* that there is room for */
    uint32_t generation;
    uint64_t sample_count; /* moved from slots into the log */
} self;

static struct {
    uint8_t *start; /* NULL until needed; not unmapped: a late thread may be inside */
    uint64_t taken; /* a bit for each slot */
} windows[WINDOW_COUNT] COL_SPARSE;

/* The slot, its window mapped if need be; NULL: no memory. Windows are mapped one from another, so they come in order. */
static struct col_open_slot *locate(uint32_t index)
{
    for (uint32_t i = 1; i <= index / WINDOW_SLOTS; i++) {
        if (__atomic_load_n(&windows[i].start, __ATOMIC_ACQUIRE) != NULL)
            continue;
        uint8_t *nothing = NULL, *window = col_sparse_file_next(windows[i - 1].start);
        if (window == NULL)
            return NULL;
        if (!__atomic_compare_exchange_n(&windows[i].start, &nothing, window, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            col_sparse_file_drop(window); /* another thread was faster */
    }
    return (struct col_open_slot *)(void *)(windows[index / WINDOW_SLOTS].start +
                                            (index % WINDOW_SLOTS) * COL_OPEN_SLOT_BYTES);
}

static void set_free(void)
{
    for (uint32_t i = 0; self.slot_count != 0 && i < WINDOW_COUNT && windows[i].start != NULL;
         i++) { /* beyond these nothing was ever taken */
        windows[i].start = NULL;
        windows[i].taken = 0;
    }
    self.slot_count = 0;
    self.sample_count = 0;
    self.generation++;
}

void col_open_slots_open(const struct col_sparse_file *log)
{
    uint64_t slot_count = log->open_bytes / COL_OPEN_SLOT_BYTES;
    set_free();
    windows[0].start = log->open_first;
    self.slot_count = slot_count < SLOT_COUNT ? (uint32_t)slot_count : SLOT_COUNT;
}

static bool try_claim(uint32_t index)
{
    uint64_t bit = (uint64_t)1 << index % WORD_BITS;
    return (__atomic_fetch_or(&windows[index / WORD_BITS].taken, bit, __ATOMIC_ACQ_REL) & bit) == 0;
}

struct col_open_slot *col_open_slots_claim(uint32_t *index)
{
    for (uint32_t first = 0; first < self.slot_count; first += WORD_BITS) {
        uint64_t vacant;
        while ((vacant = ~__atomic_load_n(&windows[first / WORD_BITS].taken, __ATOMIC_RELAXED)) != 0) {
            *index = first + (uint32_t)__builtin_ctzll(vacant);
            if (*index >= self.slot_count)
                return NULL;
            if (!try_claim(*index))
                continue;
            struct col_open_slot *slot = locate(*index);
            if (slot == NULL)
                col_open_slots_give_back(*index);
            return slot;
        }
    }
    return NULL;
}

struct col_open_slot *col_open_slots_claim_spare(uint32_t *index)
{
    return self.slot_count > FEW_SLOTS ? col_open_slots_claim(index) : NULL;
}

bool col_open_slots_are_limited(void)
{
    return self.slot_count < SLOT_COUNT;
}

void col_open_slots_give_back(uint32_t index)
{
    __atomic_fetch_and(&windows[index / WORD_BITS].taken, ~((uint64_t)1 << index % WORD_BITS), __ATOMIC_ACQ_REL);
}

static bool are_empty(uint32_t first, uint64_t taken)
{
    for (; taken != 0; taken &= taken - 1) {
        const struct col_open_slot *slot = locate(first + (uint32_t)__builtin_ctzll(taken));
        uint64_t commits[2];
        if (slot == NULL || !col_safe_read_bytes((uintptr_t)slot->commits, commits, sizeof commits) ||
            commits[0] != 0 || commits[1] != 0)
            return false;
    }
    return true;
}

/* Who is still inside a window stores into memory from now on, not behind the end of a file that was cut. */
bool col_open_slots_close(void)
{
    for (uint32_t i = 0; i < WINDOW_COUNT && windows[i].start != NULL; i++)
        if (!are_empty(i * WORD_BITS, __atomic_load_n(&windows[i].taken, __ATOMIC_RELAXED)))
            return false;
    for (uint32_t i = 0; i < WINDOW_COUNT && windows[i].start != NULL; i++)
        if (col_os_map_memory_at(windows[i].start, COL_SPARSE_WINDOW_BYTES) != 0)
            return false;
    return true;
}

uint32_t col_open_slots_generation(void)
{
    return self.generation;
}

void col_open_slots_count_samples(uint32_t count)
{
    __atomic_fetch_add(&self.sample_count, count, __ATOMIC_RELAXED);
}

uint64_t col_open_slots_sample_count(void)
{
    return __atomic_load_n(&self.sample_count, __ATOMIC_RELAXED);
}

void col_open_slots_forget(void)
{
    set_free();
}
