/* open_slots.c -- the file of open frames: who has which slot */
#include "experiment/open_slots.h"

#include <errno.h>
#include <string.h>

#include "experiment/format.h"
#include "experiment/sparse_file.h"

#define SLOT_COUNT 65536u
#define WINDOW_SLOTS (COL_SPARSE_WINDOW_BYTES / COL_OPEN_SLOT_BYTES)
#define WINDOW_COUNT (SLOT_COUNT / WINDOW_SLOTS)
#define WORD_BITS 64u

_Static_assert(sizeof(struct col_open_slot) == COL_OPEN_HEADER_BYTES, "the header of a slot");
_Static_assert(WINDOW_SLOTS == WORD_BITS, "a word of `taken` stands for a window");

static struct {
    uint8_t *windows[WINDOW_COUNT];         /* NULL until needed; not unmapped: a late thread may be inside */
    uint64_t taken[SLOT_COUNT / WORD_BITS]; /* a bit for each slot */
    uint32_t slot_count;                    /* that the file has room for */
    uint32_t generation;
    uint64_t sample_count; /* moved from slots into the log */
    bool is_careful;
} self;

/* The slot, its window mapped if need be; NULL: no memory. Windows are mapped one from another, so they come in order. */
static struct col_open_slot *locate(uint32_t index)
{
    for (uint32_t i = 1; i <= index / WINDOW_SLOTS; i++) {
        if (__atomic_load_n(&self.windows[i], __ATOMIC_ACQUIRE) != NULL)
            continue;
        uint8_t *nothing = NULL, *window = col_sparse_file_next(self.windows[i - 1]);
        if (window == NULL)
            return NULL;
        if (!__atomic_compare_exchange_n(&self.windows[i], &nothing, window, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            col_sparse_file_drop(window); /* another thread was faster */
    }
    return (struct col_open_slot *)(void *)(self.windows[index / WINDOW_SLOTS] + (index % WINDOW_SLOTS) * COL_OPEN_SLOT_BYTES);
}

static void set_free(void)
{
    for (uint32_t i = 0; i < WINDOW_COUNT && self.windows[i] != NULL; i++) { /* beyond these nothing was ever taken */
        self.windows[i] = NULL;
        self.taken[i] = 0;
    }
    self.slot_count = 0;
    self.sample_count = 0;
    self.generation++;
}

int col_open_slots_open(const char *path)
{
    struct col_sparse_file file;
    int error = col_sparse_file_create(&file, path, (uint64_t)SLOT_COUNT * COL_OPEN_SLOT_BYTES);
    if (error != 0)
        return error;
    set_free();
    self.windows[0] = file.first;
    self.slot_count = (uint32_t)(file.bytes / COL_OPEN_SLOT_BYTES);
    self.is_careful = file.is_careful;
    return 0;
}

static bool try_claim(uint32_t index)
{
    uint64_t bit = (uint64_t)1 << index % WORD_BITS;
    return (__atomic_fetch_or(&self.taken[index / WORD_BITS], bit, __ATOMIC_ACQ_REL) & bit) == 0;
}

struct col_open_slot *col_open_slots_claim(uint32_t *index)
{
    for (uint32_t first = 0; first < self.slot_count; first += WORD_BITS) {
        uint64_t vacant;
        while ((vacant = ~__atomic_load_n(&self.taken[first / WORD_BITS], __ATOMIC_RELAXED)) != 0) {
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

void col_open_slots_give_back(uint32_t index)
{
    __atomic_fetch_and(&self.taken[index / WORD_BITS], ~((uint64_t)1 << index % WORD_BITS), __ATOMIC_ACQ_REL);
}

bool col_open_slots_close(void)
{
    for (uint32_t first = 0; first < self.slot_count; first += WORD_BITS)
        for (uint64_t taken = __atomic_load_n(&self.taken[first / WORD_BITS], __ATOMIC_RELAXED); taken != 0; taken &= taken - 1) {
            const struct col_open_slot *slot = locate(first + (uint32_t)__builtin_ctzll(taken));
            if (slot == NULL || slot->commits[0] != 0 || slot->commits[1] != 0)
                return false;
        }
    return true;
}

bool col_open_slots_is_careful(void)
{
    return self.is_careful;
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
