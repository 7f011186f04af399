/* parallel_region.c -- who opened the parallel region that a thread works in */
#include "target/parallel_region.h"

#include "base/arch.h"
#include "base/os.h"
#include "base/safe_read.h"
#include "base/sparse.h"

enum {
    REGION_COUNT = 4096, /* that may be open at a time */
    MOST_TRIES = 16,
    JUMPER_COUNT = 1024,
    MOST_YIELDS = 10000, /* a walk takes microseconds; one that was put aside by the kernel gets its turn */
};

static struct {
    uint64_t last_id; /* of the regions so far */
    uint64_t floor;   /* regions up to here were those of a parent */
    int holder_count;
} self;

/* A region is open while its id stands here, at the id modulo their count: the stack of an opener that is gone is never looked at. */
static uint64_t open_ids[REGION_COUNT] COL_SPARSE;

/* How often a thread has jumped, by a hash of it. */
static uint32_t jump_counts[JUMPER_COUNT] COL_SPARSE;

static __thread struct {
    const struct col_parallel_region *region; /* whose function this thread has run last, of those that others opened */
    uint64_t id;
} local __attribute__((tls_model("initial-exec")));

__asm__(COL_ARCH_CALL_IN_REGION);

static uint64_t *place_of(uint64_t id)
{
    return &open_ids[id % REGION_COUNT];
}

static uint32_t *jumps_of(const void *opener)
{
    uintptr_t thread = (uintptr_t)opener;
    return &jump_counts[(thread >> 6 ^ thread >> 12) % JUMPER_COUNT];
}

void col_parallel_region_begin(struct col_parallel_region *region)
{
    region->opener = &local;
    region->jump_count = __atomic_load_n(jumps_of(&local), __ATOMIC_RELAXED);
    for (unsigned try = 0; try < MOST_TRIES; try++) {
        uint64_t nobody = 0;
        region->id = __atomic_add_fetch(&self.last_id, 1, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(place_of(region->id), &nobody, region->id, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            return;
    }
    region->id = 0;
}

void col_parallel_region_end(struct col_parallel_region *region)
{
    uint64_t id = region->id;
    if (id == 0)
        return;
    __atomic_compare_exchange_n(place_of(id), &id, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    for (unsigned turn = 0; turn < MOST_YIELDS && __atomic_load_n(&self.holder_count, __ATOMIC_SEQ_CST) != 0; turn++)
        col_os_yield();
}

void col_parallel_region_enter(const struct col_parallel_region *region)
{
    if (region->opener == &local)
        return;
    local.id = 0; /* a tick must not take the one for the other */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    local.region = region;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    local.id = region->id;
}

void col_parallel_region_jump(void)
{
    if (__atomic_load_n(&self.last_id, __ATOMIC_RELAXED) != 0)
        __atomic_fetch_add(jumps_of(&local), 1, __ATOMIC_RELAXED);
}

void col_parallel_region_forget(void)
{
    self.floor = self.last_id;
    self.holder_count = 0;
}

static bool is_open(uint64_t id)
{
    return id > self.floor && __atomic_load_n(place_of(id), __ATOMIC_SEQ_CST) == id;
}

static bool copy_open(uintptr_t address, uint64_t id, struct col_parallel_region *region)
{
    return is_open(id) && col_safe_read_bytes(address, region, sizeof *region) && region->id == id &&
           __atomic_load_n(jumps_of(region->opener), __ATOMIC_RELAXED) == region->jump_count;
}

bool col_parallel_region_of_frame(uintptr_t fp, struct col_parallel_region *region)
{
    uintptr_t words[2];
    return col_safe_read_bytes(fp + (uintptr_t)COL_ARCH_REGION_AT, words, sizeof words) &&
           copy_open(words[0], words[1], region);
}

bool col_parallel_region_hold_last(struct col_parallel_region *region)
{
    if (local.id == 0)
        return false;
    __atomic_fetch_add(&self.holder_count, 1, __ATOMIC_SEQ_CST);
    if (copy_open((uintptr_t)local.region, local.id, region) && region->opener != &local)
        return true;
    col_parallel_region_release();
    return false;
}

void col_parallel_region_release(void)
{
    __atomic_fetch_sub(&self.holder_count, 1, __ATOMIC_SEQ_CST);
}
