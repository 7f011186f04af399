/* wait_account.c -- exact sums, shared by looks */
#include "waits/wait_account.h"

#include <stdlib.h>
#include <string.h>

#define NEAR_OCTAVES 2u
#define SHORTEST_OCTAVE 16u /* 65 us: shorter waits are seldom seen, or never */
#define PASSES 8u

static unsigned octave_of(uint64_t ns)
{
    unsigned octave = ns == 0 ? 0 : 63u - (unsigned)__builtin_clzll(ns);
    return octave < COL_WAIT_OCTAVES ? octave : COL_WAIT_OCTAVES - 1;
}

static struct col_wait_share *share_of(struct col_wait_account *account, struct col_wait_stack *stack, unsigned octave)
{
    for (uint32_t i = 0; i < account->share_count; i++)
        if (account->shares[i].stack == stack && account->shares[i].octave == octave)
            return &account->shares[i];
    if (account->share_count == account->share_room) {
        uint32_t room = account->share_room != 0 ? account->share_room * 2 : 4;
        struct col_wait_share *shares = realloc(account->shares, room * sizeof *shares);
        if (shares == NULL)
            return NULL;
        account->shares = shares;
        account->share_room = room;
    }
    struct col_wait_share *share = &account->shares[account->share_count++];
    *share = (struct col_wait_share){.stack = col_wait_stack_hold(stack), .octave = (uint8_t)octave};
    return share;
}

/* Looks that follow one another within `looks_ns` and a quarter of it miss no wait that is longer. */
static bool is_always_seen(const struct col_wait *wait)
{
    return wait->whole_ns > wait->looks_ns + wait->looks_ns / 4;
}

void col_wait_account_add(struct col_wait_account *account, const struct col_wait *wait)
{
    unsigned octave = octave_of(wait->whole_ns);
    struct col_wait_share *share = wait->stack != NULL ? share_of(account, wait->stack, octave) : NULL;
    account->known_ns += wait->ns;
    account->known_count += wait->is_over;
    if (share != NULL && is_always_seen(wait)) {
        share->whole_ns += wait->ns;
        share->count += wait->is_over;
        return;
    }
    if (share != NULL)
        share->weight_ns += wait->whole_ns > wait->looks_ns ? wait->whole_ns : wait->looks_ns;
    account->unseen_ns[octave] += wait->ns;
    account->unseen_count[octave] += wait->is_over;
}

void col_wait_account_add_ready(struct col_wait_account *account, uint64_t ns)
{
    account->ready_ns += ns;
    account->known_ns += ns;
    account->late_ns -= (int64_t)ns;
}

void col_wait_account_pool(struct col_wait_account *account, struct col_wait_pool *pool, uint64_t random)
{
    for (uint32_t i = 0; i < account->share_count; i++) {
        struct col_wait_share *share = &account->shares[i];
        if (share->weight_ns != 0)
            col_wait_pool_add(pool, share->stack, share->octave, share->weight_ns);
        share->weight_ns = 0;
    }
    for (unsigned octave = 0; octave < COL_WAIT_OCTAVES; octave++, random = random * 6364136223846793005u + 1) {
        struct col_wait_stack *stack =
            account->unseen_ns[octave] != 0 ? col_wait_pool_draw(pool, (uint8_t)octave, random >> 16) : NULL;
        struct col_wait_share *share = stack != NULL ? share_of(account, stack, octave) : NULL;
        if (share != NULL)
            share->weight_ns = 1;
    }
}

/* A sum on its way, with the waits it is of: each of them has ended in a time of being ready. */
struct part {
    struct col_wait_sum sum;
    double waits;
    bool is_kept; /* for the next time */
};

static struct part *part_of(struct part *parts, size_t *count, struct col_wait_stack *stack)
{
    for (size_t i = 0; i < *count; i++)
        if (parts[i].sum.stack == stack)
            return &parts[i];
    parts[*count] = (struct part){.sum.stack = col_wait_stack_hold(stack)};
    return &parts[(*count)++];
}

static void add_whole(const struct col_wait_account *account, struct part *parts, size_t *count)
{
    for (uint32_t i = 0; i < account->share_count; i++) {
        const struct col_wait_share *share = &account->shares[i];
        if (share->whole_ns == 0)
            continue;
        struct part *part = part_of(parts, count, share->stack);
        part->sum.blocked_ns += share->whole_ns;
        part->waits += share->count;
    }
}

static uint64_t weight_of(const struct col_wait_share *share, bool of_whole)
{
    return of_whole ? share->whole_ns : share->weight_ns;
}

/* Shares one octave by the looks at waits of another, or the same; where all those were longer than the time between looks, they stand for one that was missed. False: there are none. */
static bool share_octave_by(const struct col_wait_account *account, unsigned octave, unsigned looked,
                            struct part *parts, size_t *count)
{
    uint64_t weights[2] = {0};
    for (uint32_t i = 0; i < account->share_count; i++)
        for (int of_whole = 0; of_whole < 2 && account->shares[i].octave == looked; of_whole++)
            weights[of_whole] += weight_of(&account->shares[i], of_whole);
    bool of_whole = weights[0] == 0;
    uint64_t left_ns = account->unseen_ns[octave], left_weight = weights[of_whole];
    for (uint32_t i = 0; i < account->share_count && left_weight != 0; i++) {
        const struct col_wait_share *share = &account->shares[i];
        uint64_t weight = share->octave == looked ? weight_of(share, of_whole) : 0;
        if (weight == 0)
            continue;
        uint64_t ns = (uint64_t)((double)left_ns * ((double)weight / (double)left_weight));
        struct part *part = part_of(parts, count, share->stack);
        part->sum.blocked_ns += ns;
        part->waits += (double)account->unseen_count[octave] * (double)weight / (double)weights[of_whole];
        left_ns -= ns;
        left_weight -= weight;
    }
    return weights[of_whole] != 0;
}

/*
 * There may be no later look at waits of that length in the end: then those at the next lengths say what they were. Waits that are over before a look is
 * are never seen, and are taken for the shortest that were.
 */
static bool share_octave(const struct col_wait_account *account, unsigned octave, bool is_last, struct part *parts,
                         size_t *count)
{
    bool is_too_short = octave < SHORTEST_OCTAVE, is_shared = share_octave_by(account, octave, octave, parts, count);
    unsigned most = is_too_short ? SHORTEST_OCTAVE + NEAR_OCTAVES - octave : is_last ? NEAR_OCTAVES : 0;
    for (unsigned distance = 1; !is_shared && distance <= most; distance++) {
        is_shared = share_octave_by(account, octave, octave + distance, parts, count);
        if (!is_shared && !is_too_short && octave >= distance)
            is_shared = share_octave_by(account, octave, octave - distance, parts, count);
    }
    return is_shared;
}

/* Takes from each part what came up at the ends of its waits, as far as it has that much; what the kept ones would give stays. */
static void take_from_waits(int64_t *left_ns, struct part *parts, size_t count, bool is_ready)
{
    double waits = 1, rest_ns = (double)*left_ns;
    for (unsigned pass = 0; pass < PASSES && rest_ns >= 1 && waits > 0; pass++) {
        double all_ns = rest_ns;
        waits = 0;
        for (size_t i = 0; i < count; i++)
            waits += parts[i].sum.blocked_ns != 0 ? parts[i].waits : 0;
        for (size_t i = 0; i < count && waits > 0; i++) {
            struct part *part = &parts[i];
            uint64_t ns = part->sum.blocked_ns != 0 ? (uint64_t)(all_ns * (part->waits / waits)) : 0;
            ns = ns < part->sum.blocked_ns ? ns : part->sum.blocked_ns;
            part->sum.blocked_ns -= ns;
            part->sum.ready_ns += is_ready ? ns : 0;
            rest_ns -= (double)ns;
            *left_ns -= part->is_kept ? 0 : (int64_t)ns;
        }
    }
}

static void forget_shares(struct col_wait_account *account)
{
    for (uint32_t i = 0; i < account->share_count; i++)
        col_wait_stack_drop(account->shares[i].stack);
    account->share_count = 0;
}

/* What no look tells anything of so far. Gives how many parts there are with those that are kept, which come last. */
static size_t add_unseen(struct col_wait_account *account, bool is_last, struct part *parts, size_t *count)
{
    bool is_shared[COL_WAIT_OCTAVES] = {false};
    for (unsigned octave = 0; octave < COL_WAIT_OCTAVES; octave++)
        if (account->unseen_ns[octave] != 0)
            is_shared[octave] = share_octave(account, octave, is_last, parts, count);
    size_t all = *count;
    for (unsigned octave = 0; octave < COL_WAIT_OCTAVES; octave++) {
        if (account->unseen_ns[octave] != 0 && !is_shared[octave])
            parts[all++] = (struct part){.sum.blocked_ns = account->unseen_ns[octave],
                                         .waits = account->unseen_count[octave],
                                         .is_kept = !is_last};
        if (is_shared[octave] || is_last)
            account->unseen_ns[octave] = account->unseen_count[octave] = 0;
    }
    return all;
}

static size_t make_parts(struct col_wait_account *account, bool is_last, struct part *parts)
{
    size_t count = 0;
    add_whole(account, parts, &count);
    size_t all = add_unseen(account, is_last, parts, &count);
    take_from_waits(&account->late_ns, parts, all, true);
    take_from_waits(&account->over_ns, parts, all, false);
    if (is_last)
        count = all;
    /* Running by the records, but not using its processor: that had been taken away from the whole machine. */
    if (account->over_ns < 0) {
        account->ready_ns += (uint64_t)-account->over_ns;
        account->over_ns = 0;
    }
    if (account->ready_ns != 0)
        parts[count++] = (struct part){.sum.ready_ns = account->ready_ns};
    account->ready_ns = 0;
    return count;
}

struct col_wait_sum *col_wait_account_settle(struct col_wait_account *account, bool is_last, size_t *count)
{
    struct part *parts = malloc((account->share_count + COL_WAIT_OCTAVES + 1) * sizeof *parts);
    struct col_wait_sum *sums = malloc((account->share_count + COL_WAIT_OCTAVES + 1) * sizeof *sums);
    *count = 0;
    if (parts != NULL && sums != NULL) {
        *count = make_parts(account, is_last, parts);
        for (size_t i = 0; i < *count; i++)
            sums[i] = parts[i].sum;
        forget_shares(account);
    }
    free(parts);
    if (*count != 0)
        return sums;
    free(sums);
    return NULL;
}

void col_wait_account_release(struct col_wait_sum *sums, size_t count)
{
    for (size_t i = 0; i < count; i++)
        col_wait_stack_drop(sums[i].stack);
    free(sums);
}

void col_wait_account_free(struct col_wait_account *account)
{
    forget_shares(account);
    free(account->shares);
    *account = (struct col_wait_account){0};
}
