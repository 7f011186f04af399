/* unwind_cache.c -- how to leave a frame, in eight bytes, remembered by address */
#include "sample/unwind_cache.h"
#include "base/sparse.h"

enum { MOST_EXPECTED = 32 };

struct col_unwind_cache_set col_unwind_cache[1 << COL_UNWIND_CACHE_BITS] __attribute__((aligned(64))) COL_SPARSE;

static struct {
    uint64_t generation; /* of our own process */
    uint64_t latest;     /* of all */
} self;

/* True when `bytes` is a whole number of words that fits into `bits`; then *words is that number's low bits. */
static bool pack_words(int64_t bytes, int bits, uint64_t *words)
{
    int64_t limit = INT64_C(1) << (bits - 1);
    if (bytes % 8 != 0 || bytes / 8 < -limit || bytes / 8 >= limit)
        return false;
    *words = (uint64_t)(bytes / 8) & ((UINT64_C(1) << bits) - 1);
    return true;
}

bool col_unwind_rule_pack(int64_t cfa_offset, int64_t fp_offset, int64_t return_offset, unsigned flags,
                          col_unwind_rule *rule)
{
    uint64_t cfa, fp, return_address;
    if (!pack_words(cfa_offset, COL_RULE_CFA_BITS, &cfa) || !pack_words(fp_offset, COL_RULE_OFFSET_BITS, &fp) ||
        !pack_words(return_offset, COL_RULE_OFFSET_BITS, &return_address))
        return false;
    *rule = cfa << 42 | fp << 24 | return_address << 6 | flags | COL_RULE_SIMPLE;
    return true;
}

static uint64_t tag_of(uint64_t generation)
{
    return generation << COL_UNWIND_TAG_SHIFT;
}

uint64_t col_unwind_cache_tag(void)
{
    return tag_of(__atomic_load_n(&self.generation, __ATOMIC_ACQUIRE));
}

/* An entry of an older generation is as good as an empty one. */
static bool is_current(struct col_unwind_cache_entry *entry, uint64_t tag)
{
    uint64_t rule = __atomic_load_n(&entry->rule, __ATOMIC_RELAXED);
    uint64_t key = __atomic_load_n(&entry->key, __ATOMIC_RELAXED) ^ col_unwind_cache_mix(rule);
    return rule != COL_RULE_UNKNOWN && key >> COL_UNWIND_TAG_SHIFT == tag >> COL_UNWIND_TAG_SHIFT;
}

void col_unwind_cache_add(uint64_t tag, uint64_t place, col_unwind_rule rule)
{
    struct col_unwind_cache_set *set = col_unwind_cache_set_of(tag, place);
    int way = 0;
    if (is_current(&set->way[0], tag))
        way = is_current(&set->way[1], tag) ? (int)(place >> 3 & 1) : 1;
    __atomic_store_n(&set->way[way].rule, rule, __ATOMIC_RELAXED);
    __atomic_store_n(&set->way[way].key, (tag | place) ^ col_unwind_cache_mix(rule), __ATOMIC_RELAXED);
}

void col_unwind_cache_expect(const ucontext_t *context, const uintptr_t *pcs, size_t count)
{
    struct col_regs regs;
    uint64_t tag = col_unwind_cache_tag();
    col_regs_from_context(&regs, context);
    __builtin_prefetch(col_unwind_cache_set_of(tag, col_unwind_place(regs.pc, true)));
    for (size_t i = 1; i < count && i < MOST_EXPECTED; i++)
        __builtin_prefetch(col_unwind_cache_set_of(tag, col_unwind_place(pcs[i], false)));
}

static uint64_t begin_generation(void)
{
    uint64_t generation = __atomic_add_fetch(&self.latest, 1, __ATOMIC_ACQ_REL);
    if (tag_of(generation) != 0)
        return generation;
    /* The tag starts over: what was left from its first round must not come to life again. */
    for (unsigned i = 0; i < 1 << COL_UNWIND_CACHE_BITS; i++)
        for (int way = 0; way < 2; way++)
            __atomic_store_n(&col_unwind_cache[i].way[way].rule, COL_RULE_UNKNOWN, __ATOMIC_RELAXED);
    return generation;
}

void col_unwind_cache_forget(void)
{
    __atomic_store_n(&self.generation, begin_generation(), __ATOMIC_RELEASE);
}

uint64_t col_unwind_cache_tag_of(uint64_t *generation)
{
    unsigned rounds = 64 - COL_UNWIND_TAG_SHIFT;
    if (*generation == 0 || *generation >> rounds != __atomic_load_n(&self.latest, __ATOMIC_RELAXED) >> rounds)
        *generation = begin_generation();
    return tag_of(*generation);
}
