/* unwind_cache.c -- how to leave a frame, in eight bytes, remembered by address */
#include "sample/unwind_cache.h"

#include "base/os.h"
#include "base/sparse.h"

enum { MOST_EXPECTED = 32, SETS = 1 << COL_UNWIND_CACHE_BITS };

struct col_unwind_cache_set col_unwind_cache[1 << COL_UNWIND_CACHE_BITS] COL_SPARSE;

static struct {
    uint64_t generation;
    uint64_t latest;                          /* of other processes */
    struct col_unwind_cache_set *their_rules; /* of all of them */
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

struct col_unwind_rules col_unwind_cache_own(void)
{
    return (struct col_unwind_rules){col_unwind_cache, __atomic_load_n(&self.generation, __ATOMIC_ACQUIRE)
                                                           << COL_UNWIND_TAG_SHIFT};
}

/* An entry of an older generation is as good as an empty one. */
static bool is_current(struct col_unwind_cache_entry *entry, uint64_t tag)
{
    uint64_t rule = __atomic_load_n(&entry->rule, __ATOMIC_RELAXED);
    uint64_t key = __atomic_load_n(&entry->key, __ATOMIC_RELAXED) ^ col_unwind_cache_mix(rule);
    return rule != COL_RULE_UNKNOWN && key >> COL_UNWIND_TAG_SHIFT == tag >> COL_UNWIND_TAG_SHIFT;
}

void col_unwind_cache_add(struct col_unwind_rules rules, uint64_t place, col_unwind_rule rule)
{
    struct col_unwind_cache_set *set = col_unwind_cache_set_of(rules, place);
    int way = 0;
    if (is_current(&set->way[0], rules.tag))
        way = is_current(&set->way[1], rules.tag) ? (int)(place >> 3 & 1) : 1;
    __atomic_store_n(&set->way[way].rule, rule, __ATOMIC_RELAXED);
    __atomic_store_n(&set->way[way].key, (rules.tag | place) ^ col_unwind_cache_mix(rule), __ATOMIC_RELAXED);
}

void col_unwind_cache_expect(const ucontext_t *context, const uintptr_t *pcs, size_t count)
{
    struct col_regs regs;
    struct col_unwind_rules rules = {col_unwind_cache, 0};
    col_regs_from_context(&regs, context);
    __builtin_prefetch(col_unwind_cache_set_of(rules, col_unwind_place(regs.pc, true)));
    for (size_t i = 1; i < count && i < MOST_EXPECTED; i++)
        __builtin_prefetch(col_unwind_cache_set_of(rules, col_unwind_place(pcs[i], false)));
}

/* The tag starts over: what was left from its first round must not come to life again. */
static void clear(struct col_unwind_cache_set *sets, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (int way = 0; way < 2; way++)
            __atomic_store_n(&sets[i].way[way].rule, COL_RULE_UNKNOWN, __ATOMIC_RELAXED);
}

void col_unwind_cache_forget(void)
{
    uint64_t generation = __atomic_fetch_add(&self.generation, 1, __ATOMIC_ACQ_REL) + 1;
    if (generation << COL_UNWIND_TAG_SHIFT != 0)
        return;
    clear(col_unwind_cache, SETS);
}

/* Forked processes have their code at the same addresses, so each finds its sets from a place of its own on. */
bool col_unwind_cache_of(uint64_t *generation, struct col_unwind_rules *rules)
{
    const unsigned rounds = 64 - COL_UNWIND_TAG_SHIFT;
    if (self.their_rules == NULL)
        self.their_rules = col_os_map_memory(2 * SETS * sizeof *self.their_rules);
    if (self.their_rules == NULL)
        return false;
    if (*generation == 0 || *generation >> rounds != self.latest >> rounds) {
        *generation = ++self.latest;
        if (*generation << COL_UNWIND_TAG_SHIFT == 0)
            clear(self.their_rules, 2 * SETS);
    }
    uint64_t first = *generation * UINT64_C(0x9e3779b97f4a7c15) >> (64 - COL_UNWIND_CACHE_BITS);
    *rules = (struct col_unwind_rules){self.their_rules + first, *generation << COL_UNWIND_TAG_SHIFT};
    return true;
}
