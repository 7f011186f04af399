/* unwind_cache.h -- how to leave a frame, in eight bytes, remembered by address */
#ifndef COL_SAMPLE_UNWIND_CACHE_H
#define COL_SAMPLE_UNWIND_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "base/arch.h"

/* CALLABLE FROM ANYWHERE, signal handlers included. */

/*
 * A rule says how to go from a frame to its caller:
 *
 *   bit  63            42 41            24 23             6   5       4       3    2  0
 *       | CFA offset     | fp offset      | return offset  | at    | fp is | from |type |
 *       | 22, signed     | 18, signed     | 18, signed     | start | saved | fp   |     |
 *
 * Offsets count words: the CFA's from sp or fp, the others from the CFA. `push %rbp; mov %rsp,%rbp` gives after its
 * first instruction: CFA = sp + 16 bytes, fp at CFA - 16, return address at CFA - 8:
 * 2 << 42 | (-2 & 0x3ffff) << 24 | (-1 & 0x3ffff) << 6 | 1 << 4 | SIMPLE.
 *
 * "At start" may stand beside any type: the frame's return address is the start of the function that it stands for,
 * because no call led here.
 */
typedef uint64_t col_unwind_rule;

enum col_unwind_rule_type {
    COL_RULE_UNKNOWN = 0, /* not in the cache */
    COL_RULE_SIMPLE,      /* as drawn above */
    COL_RULE_OUTERMOST,   /* nobody called this */
    COL_RULE_SIGNAL,      /* a signal trampoline: the registers lie on the stack */
    COL_RULE_NO_TABLE,    /* a module's code without unwind table; not in the cache */
    COL_RULE_BY_CODE,     /* as drawn above; found by following the code, which has no unwind table: may be wrong */
    COL_RULE_BY_RECORD,   /* code without unwind table that could not be followed, or keeps a frame record */
    COL_RULE_TABLE,       /* too rare a rule for eight bytes: look it up in the table each time */
};

enum {
    COL_RULE_TYPE_MASK = 7,
    COL_RULE_FROM_FP = 8,
    COL_RULE_FP_IS_SAVED = 16,
    COL_RULE_AT_START = 32,
    COL_RULE_CFA_BITS = 22,
    COL_RULE_OFFSET_BITS = 18,
};

static inline intptr_t col_unwind_rule_cfa_offset(col_unwind_rule rule)
{
    return ((int64_t)rule >> 42) * 8;
}

static inline intptr_t col_unwind_rule_fp_offset(col_unwind_rule rule)
{
    return ((int64_t)(rule << 22) >> 46) * 8;
}

static inline intptr_t col_unwind_rule_return_offset(col_unwind_rule rule)
{
    return ((int64_t)(rule << 40) >> 46) * 8;
}

/* Packs offsets in bytes. False when they do not fit: then the rule is a COL_RULE_TABLE. */
bool col_unwind_rule_pack(int64_t cfa_offset, int64_t fp_offset, int64_t return_offset, unsigned flags,
                          col_unwind_rule *rule);

/*
 * The cache: sets of two entries. An entry's key is its place, tagged with the generation, mixed with its rule, so
 * that halves of two entries, written by two threads at the same time, do not pass for one.
 */
enum {
    COL_UNWIND_CACHE_BITS = 14,
    COL_UNWIND_TAG_SHIFT = COL_ARCH_ADDRESS_BITS + 1,
};

/* A place in code. The same address is another place when it is where a call returns to: that looks one byte back. */
static inline uint64_t col_unwind_place(uintptr_t pc, bool is_exact)
{
    return pc | (uint64_t)is_exact << COL_ARCH_ADDRESS_BITS;
}

struct col_unwind_cache_entry {
    uint64_t key, rule;
};

struct col_unwind_cache_set {
    struct col_unwind_cache_entry way[2];
};

extern struct col_unwind_cache_set col_unwind_cache[1 << COL_UNWIND_CACHE_BITS];

/* The rules of one process: where they are, and its generation, placed above the bits of an address. */
struct col_unwind_rules {
    struct col_unwind_cache_set *sets;
    uint64_t tag;
};

static inline struct col_unwind_cache_set *col_unwind_cache_set_of(struct col_unwind_rules rules, uint64_t place)
{
    return &rules.sets[(place * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - COL_UNWIND_CACHE_BITS)];
}

static inline uint64_t col_unwind_cache_mix(col_unwind_rule rule)
{
    return rule * UINT64_C(0xff51afd7ed558ccd);
}

/* Those of our own process. To be taken once, before a walk looks at any module. */
struct col_unwind_rules col_unwind_cache_own(void);

/*
 * Those of another process. *generation is kept with it; 0, at first and again when its code has changed: none are known. False: there is no memory. From
 * ordinary code.
 */
bool col_unwind_cache_of(uint64_t *generation, struct col_unwind_rules *rules);

/* The rule for this place, or COL_RULE_UNKNOWN. */
static inline col_unwind_rule col_unwind_cache_find(struct col_unwind_rules rules, uint64_t place)
{
    struct col_unwind_cache_set *set = col_unwind_cache_set_of(rules, place);
    for (int i = 0; i < 2; i++) {
        col_unwind_rule rule = __atomic_load_n(&set->way[i].rule, __ATOMIC_RELAXED);
        uint64_t key = __atomic_load_n(&set->way[i].key, __ATOMIC_RELAXED);
        if ((key ^ col_unwind_cache_mix(rule)) == (rules.tag | place))
            return rule;
    }
    return COL_RULE_UNKNOWN;
}

void col_unwind_cache_add(struct col_unwind_rules rules, uint64_t place, col_unwind_rule rule);

/*
 * Fetches the rules that a walk from here will ask for if the stack is much like the last one, `pcs`: each lies somewhere
 * else, and a walk that meets them cold waits for one after the other. For the beginning of a tick.
 */
void col_unwind_cache_expect(const ucontext_t *context, const uintptr_t *pcs, size_t count);

/* Makes all rules of our own process unknown, also those that walks now under way will still add. */
void col_unwind_cache_forget(void);

#endif
