/* wait_account.c -- exact sums, shared by looks */
#include "waits/wait_account.h"

#include <stdlib.h>
#include <string.h>

#define NEAR_OCTAVES 2u
#define SHORTEST_OCTAVE 16u /* 65 us: shorter waits are seldom seen, or never */
#define PASSES 8u
#define LEAST_OLD_NS 1000000u
#define NO_OCTAVE COL_WAIT_OCTAVES

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
    account->looks_ns = wait->looks_ns;
    if (share != NULL && wait->is_over) {
        share->ever++;
        share->untold++;
        account->ever++;
    }
    if (share != NULL && wait->is_guess) {
        share->squares_ns2 += (double)wait->ns * (double)wait->ns;
        share->looks++;
    }
    if (share != NULL && is_always_seen(wait)) {
        share->whole_ns += wait->ns;
        share->count += wait->is_over;
        return;
    }
    if (share != NULL) {
        share->weight_ns += wait->whole_ns > wait->looks_ns ? wait->whole_ns : wait->looks_ns;
        share->looks++;
        share->seen++;
        share->ages_ns += (double)wait->age_ns;
    }
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
        share->seen = 0;
    }
    for (unsigned octave = 0; octave < COL_WAIT_OCTAVES; octave++, random = random * 6364136223846793005u + 1) {
        double likely;
        struct col_wait_stack *stack =
            account->unseen_ns[octave] != 0 ? col_wait_pool_draw(pool, (uint8_t)octave, random >> 16, &likely) : NULL;
        struct col_wait_share *share = stack != NULL ? share_of(account, stack, octave) : NULL;
        if (share == NULL)
            continue;
        share->weight_ns = 1;
        share->seen = 1;
        share->drawn = likely;
    }
}

/* A sum on its way, with the waits it is of. */
struct part {
    struct col_wait_sum sum;
    double waits;
};

static struct part *part_of(struct part *parts, size_t *count, struct col_wait_stack *stack)
{
    for (size_t i = 0; i < *count; i++)
        if (parts[i].sum.stack == stack)
            return &parts[i];
    parts[*count] = (struct part){.sum.stack = col_wait_stack_hold(stack)};
    return &parts[(*count)++];
}

/*
 * How likely a wait of this length is another stack's, by all looks that are remembered. As there are few of them, one more counts that found what those at all of the thread's waits
 * did, and these have half a one of another stack, so that it is never quite nothing.
 */
static double other_part(const struct col_wait_account *account, const struct col_wait_share *share)
{
    double looks = 0, others = 0, ever = account->ever;
    if (share->drawn > 0)
        return 1 - share->drawn;
    for (uint32_t i = 0; i < account->share_count; i++) {
        const struct col_wait_share *one = &account->shares[i];
        double found = one->octave == share->octave ? one->looks + one->count : 0;
        looks += found;
        others += one->stack != share->stack ? found : 0;
        ever -= one->stack == share->stack ? one->ever : 0;
    }
    return (others + (ever + 0.5) / (account->ever + 1)) / (looks + 1);
}

static void add_whole(const struct col_wait_account *account, struct part *parts, size_t *count)
{
    for (uint32_t i = 0; i < account->share_count; i++) {
        const struct col_wait_share *share = &account->shares[i];
        if (share->whole_ns == 0)
            continue;
        struct part *part = part_of(parts, count, share->stack);
        part->sum.blocked_ns += share->whole_ns;
        part->sum.variance_ns2 += share->squares_ns2 > 0 ? share->squares_ns2 * other_part(account, share) : 0;
        part->waits += share->count;
    }
}

/* Takes `all_ns` from several amounts in proportion to their weights, as far as each has that much; gives what was taken from each, and of all. */
static double take(double all_ns, size_t count, const double *weights, const double *amounts, double *taken)
{
    double left_ns = all_ns, weight = 1;
    for (size_t i = 0; i < count; i++)
        taken[i] = 0;
    for (unsigned pass = 0; pass < PASSES && left_ns >= 1 && weight > 0; pass++) {
        double pass_ns = left_ns;
        weight = 0;
        for (size_t i = 0; i < count; i++)
            weight += taken[i] < amounts[i] ? weights[i] : 0;
        for (size_t i = 0; i < count && weight > 0; i++) {
            double most = amounts[i] - taken[i], ns = most > 0 ? pass_ns * weights[i] / weight : 0;
            taken[i] += ns < most ? ns : most;
            left_ns -= ns < most ? ns : most > 0 ? most : 0;
        }
    }
    return all_ns - left_ns;
}

/* Takes from waits that have a stack of their own what came up at their ends: each wait has one. Gives how much that was. */
static uint64_t take_from_whole(double all_ns, struct part *parts, size_t count, bool is_ready)
{
    double waits = 0;
    uint64_t sum_ns = 0;
    for (size_t i = 0; i < count; i++)
        waits += parts[i].waits;
    for (size_t i = 0; i < count && waits > 0; i++) {
        struct col_wait_sum *sum = &parts[i].sum;
        uint64_t ns = (uint64_t)(all_ns * parts[i].waits / waits);
        ns = ns < sum->blocked_ns ? ns : sum->blocked_ns;
        sum->blocked_ns -= ns;
        sum->ready_ns += is_ready ? ns : 0;
        sum_ns += ns;
    }
    return sum_ns;
}

/* What looks at waits of one length stand for: at those seen by chance, at those that are longer than the time between looks, at earlier ones. */
enum { BY_CHANCE, WHOLE, OLD, WEIGHTS };

static uint64_t weight_of(const struct col_wait_share *share, unsigned which)
{
    return which == BY_CHANCE ? share->weight_ns : which == WHOLE ? share->whole_ns : share->old_ns;
}

static void weigh_octave(const struct col_wait_account *account, unsigned octave, uint64_t weights[WEIGHTS])
{
    for (unsigned which = 0; which < WEIGHTS; which++)
        weights[which] = 0;
    for (uint32_t i = 0; i < account->share_count; i++)
        for (unsigned which = 0; which < WEIGHTS && account->shares[i].octave == octave; which++)
            weights[which] += weight_of(&account->shares[i], which);
}

static bool is_looked_at(const struct col_wait_account *account, unsigned octave)
{
    uint64_t weights[WEIGHTS];
    weigh_octave(account, octave, weights);
    return weights[BY_CHANCE] + weights[WHOLE] + weights[OLD] != 0;
}

/*
 * The looks that say what the waits of a length were. There may be no later ones in the end: then those at the next lengths do. Waits that are over before a look is
 * are never seen, and are taken for the shortest that were. NO_OCTAVE: no look tells anything of them.
 */
static unsigned find_looks(const struct col_wait_account *account, unsigned octave, bool is_last)
{
    bool is_too_short = octave < SHORTEST_OCTAVE;
    unsigned most = is_too_short ? SHORTEST_OCTAVE + NEAR_OCTAVES - octave : is_last ? NEAR_OCTAVES : 0;
    for (unsigned distance = 0; distance <= most; distance++) {
        if (is_looked_at(account, octave + distance))
            return octave + distance;
        if (!is_too_short && octave >= distance && is_looked_at(account, octave - distance))
            return octave - distance;
    }
    return NO_OCTAVE;
}

/* How many looks those weights are of. */
static double looks_of(const struct col_wait_account *account, unsigned octave, unsigned which)
{
    double looks = 0;
    for (uint32_t i = 0; i < account->share_count; i++) {
        const struct col_wait_share *share = &account->shares[i];
        if (share->octave == octave)
            looks += which == BY_CHANCE ? share->seen : which == WHOLE ? share->count : share->looks;
    }
    return looks > 1 ? looks : 1;
}

/* Of a stack that was drawn it is the pool's as well: there each look stands for the time between two. As the pool grows the first ones count for more, which makes it twice as much. */
static double variance_of(const struct col_wait_account *account, const struct col_wait_share *share, double blocked_ns,
                          double part_of_all, double looks)
{
    double square = blocked_ns * blocked_ns / looks;
    if (share->drawn > 0)
        square += 2 * blocked_ns * (double)account->looks_ns;
    return square * part_of_all * other_part(account, share);
}

/* By the best looks that there are. */
static void share_octave(const struct col_wait_account *account, unsigned looked, uint64_t blocked_ns,
                         uint64_t ready_ns, struct part *parts, size_t *count)
{
    uint64_t weights[WEIGHTS];
    weigh_octave(account, looked, weights);
    unsigned which = weights[BY_CHANCE] != 0 ? BY_CHANCE : weights[WHOLE] != 0 ? WHOLE : OLD;
    double looks = looks_of(account, looked, which);
    for (uint32_t i = 0; i < account->share_count; i++) {
        const struct col_wait_share *share = &account->shares[i];
        uint64_t weight = share->octave == looked ? weight_of(share, which) : 0;
        if (weight == 0)
            continue;
        double part_of_all = (double)weight / (double)weights[which];
        struct part *part = part_of(parts, count, share->stack);
        part->sum.blocked_ns += (uint64_t)((double)blocked_ns * part_of_all + 0.5);
        part->sum.ready_ns += (uint64_t)((double)ready_ns * part_of_all + 0.5);
        part->sum.variance_ns2 += variance_of(account, share, (double)blocked_ns, part_of_all, looks);
    }
}

/* How many waits of a length there were for each that was seen: the shorter they are the more. Nothing is known of one whose length nobody saw. */
static double waits_of(const struct col_wait_share *share, double usual_age_ns)
{
    double age_ns = (share->ages_ns + usual_age_ns) / (share->looks + 1); /* a single look says little */
    return age_ns > 0 ? share->looks / age_ns : 0;
}

/* Shares the time for which a thread was ready at the ends of its waits by their number. False: nothing is known of that. */
static bool share_ready(const struct col_wait_account *account, double ready_ns, struct part *parts, size_t *count)
{
    double looks = 0, ages_ns = 0, waits = 0;
    for (uint32_t i = 0; i < account->share_count; i++) {
        looks += account->shares[i].looks;
        ages_ns += account->shares[i].ages_ns;
    }
    for (uint32_t i = 0; i < account->share_count && looks > 0; i++)
        waits += waits_of(&account->shares[i], ages_ns / looks);
    for (uint32_t i = 0; i < account->share_count && waits > 0; i++) {
        double part_of_all = waits_of(&account->shares[i], ages_ns / looks) / waits;
        if (part_of_all > 0)
            part_of(parts, count, account->shares[i].stack)->sum.ready_ns += (uint64_t)(ready_ns * part_of_all + 0.5);
    }
    return waits > 0;
}

/* What the scheduler has to say of all waits, and how much of it belongs to those that have a stack of their own. */
static double whole_part(const struct col_wait_account *account, int64_t all_ns)
{
    double whole = 0, unseen = 0;
    for (uint32_t i = 0; i < account->share_count; i++)
        whole += account->shares[i].whole_ns != 0 ? account->shares[i].count : 0;
    for (unsigned octave = 0; octave < COL_WAIT_OCTAVES; octave++)
        unseen += account->unseen_count[octave];
    return all_ns > 0 && whole > 0 ? (double)all_ns * whole / (whole + unseen) : 0;
}

/*
 * Shares what was not seen, less what came up at the ends of its waits: the switches themselves, and the time for which threads were ready. As long as that is little, waits are told
 * apart by their lengths. If it is not, those tell more of the machine than of the waits: a length has the more ready time the fewer looks found the thread still waiting, and
 * stacks have it by the number of their waits.
 */
static void share_unseen(struct col_wait_account *account, bool is_last, struct part *parts, size_t *count)
{
    double amounts[COL_WAIT_OCTAVES], weights[COL_WAIT_OCTAVES], over[COL_WAIT_OCTAVES], late[COL_WAIT_OCTAVES];
    for (unsigned octave = 0; octave < COL_WAIT_OCTAVES; octave++) {
        amounts[octave] = (double)account->unseen_ns[octave];
        weights[octave] = (double)account->unseen_count[octave];
    }
    take((double)account->over_ns, COL_WAIT_OCTAVES, weights, amounts, over);
    double sum_ns = 0;
    for (unsigned octave = 0; octave < COL_WAIT_OCTAVES; octave++)
        sum_ns += amounts[octave] -= over[octave];
    bool is_late = (double)account->late_ns > sum_ns / 4;
    for (unsigned octave = 0; octave < COL_WAIT_OCTAVES && is_late; octave++) {
        uint64_t looked[WEIGHTS];
        weigh_octave(account, octave, looked);
        weights[octave] = amounts[octave] > 2 * (double)looked[BY_CHANCE] ? amounts[octave] - (double)looked[BY_CHANCE]
                                                                          : amounts[octave] / 2;
    }
    take((double)account->late_ns, COL_WAIT_OCTAVES, weights, amounts, late);
    bool has_lengths = is_late && share_ready(account, 0, parts, count);
    double by_number_ns = 0;
    for (unsigned octave = 0; octave < COL_WAIT_OCTAVES; octave++) {
        unsigned looked = account->unseen_ns[octave] != 0 ? find_looks(account, octave, is_last) : NO_OCTAVE;
        if (account->unseen_ns[octave] == 0 || (looked == NO_OCTAVE && !is_last))
            continue;
        uint64_t ready_ns = (uint64_t)late[octave], blocked_ns = (uint64_t)(amounts[octave] - (double)ready_ns);
        account->over_ns -= (int64_t)over[octave];
        account->late_ns -= (int64_t)ready_ns;
        account->unseen_ns[octave] = account->unseen_count[octave] = 0;
        by_number_ns += has_lengths && looked != NO_OCTAVE ? (double)ready_ns : 0;
        if (looked != NO_OCTAVE)
            share_octave(account, looked, blocked_ns, has_lengths ? 0 : ready_ns, parts, count);
        else
            parts[(*count)++] = (struct part){.sum = {.blocked_ns = blocked_ns, .ready_ns = ready_ns}};
    }
    if (by_number_ns > 0)
        share_ready(account, by_number_ns, parts, count);
}

/* What nothing is written of yet tells its looks when there is. */
static void add_looks(struct col_wait_account *account, struct part *parts, size_t count)
{
    for (uint32_t i = 0; i < account->share_count; i++) {
        struct col_wait_share *share = &account->shares[i];
        for (size_t at = 0; at < count && share->untold != 0; at++) {
            if (parts[at].sum.stack != share->stack)
                continue;
            parts[at].sum.look_count += share->untold;
            share->untold = 0;
        }
    }
}

static size_t make_parts(struct col_wait_account *account, bool is_last, struct part *parts)
{
    size_t count = 0;
    add_whole(account, parts, &count);
    account->over_ns -= (int64_t)take_from_whole(whole_part(account, account->over_ns), parts, count, false);
    account->late_ns -= (int64_t)take_from_whole(whole_part(account, account->late_ns), parts, count, true);
    share_unseen(account, is_last, parts, &count);
    add_looks(account, parts, count);
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

/* What was seen fades: it goes on to tell of waits that no later look is at. */
static void age_shares(struct col_wait_account *account)
{
    for (uint32_t i = account->share_count; i-- > 0;) {
        struct col_wait_share *share = &account->shares[i];
        share->old_ns = share->old_ns / 2 + share->weight_ns + share->whole_ns;
        share->weight_ns = share->whole_ns = share->count = 0;
        share->looks /= 2;
        share->ages_ns /= 2;
        share->seen = share->squares_ns2 = share->drawn = 0;
        if (share->old_ns < LEAST_OLD_NS) {
            col_wait_stack_drop(share->stack);
            *share = account->shares[--account->share_count];
        }
    }
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
        age_shares(account);
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
    for (uint32_t i = 0; i < account->share_count; i++)
        col_wait_stack_drop(account->shares[i].stack);
    free(account->shares);
    *account = (struct col_wait_account){0};
}
