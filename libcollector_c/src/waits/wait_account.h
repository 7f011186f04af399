/* wait_account.h -- how a thread's waiting, which is known exactly, is shared by the stacks that it was seen at */
#ifndef COL_WAITS_WAIT_ACCOUNT_H
#define COL_WAITS_WAIT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "waits/wait_pool.h"

/*
 * Every wait is known by its length. One that is longer than the time between looks has been looked at, and is its stack's alone. Of shorter ones only a
 * part was looked at, in proportion to their lengths: what they make up together is shared as those looks say, apart for each octave of lengths, because
 * waits of one length are far more alike than those of a thread. The sums are exact whatever the looks say. Ordinary code, one thread at a time.
 */
enum { COL_WAIT_OCTAVES = 44 };

struct col_wait_share {
    struct col_wait_stack *stack;
    uint8_t octave;
    uint32_t count;     /* waits */
    uint64_t whole_ns;  /* of those that are this stack's alone */
    uint64_t weight_ns; /* what those stand for that were looked at by chance */
    uint64_t old_ns;    /* both, of earlier times, fading */
    double looks;       /* by chance, fading */
    double ages_ns;     /* and how long those waits had gone on then: half of what they took in all */
    double seen;        /* looks by chance since the last sums */
    double ever;        /* looks of any kind, not fading */
    uint32_t untold;    /* of these, not in a sum so far */
    double squares_ns2; /* of what is taken to be this stack's because it was the next to be seen */
    double drawn;       /* how likely it was, if it was drawn from a pool; 0: it was not */
};

struct col_wait_account {
    uint64_t unseen_ns[COL_WAIT_OCTAVES]; /* in waits that nobody looked at, or that were looked at by chance */
    uint32_t unseen_count[COL_WAIT_OCTAVES];
    uint64_t ready_ns; /* preempted, or not yet begun */
    uint64_t known_ns,
        known_count; /* waited and ready since they were last held against the scheduler, and how many waits that was */
    int64_t late_ns; /* ready beyond that, as the scheduler has it: at the ends of waits */
    int64_t over_ns; /* not waited at all: the switches themselves, at the ends of waits as well */
    uint64_t looks_ns; /* at the last wait */
    double ever;       /* looks of any kind */
    struct col_wait_share *shares;
    uint32_t share_count, share_room;
};

/*
 * What comes of it: the time of a stack; NULL is that of no known stack. The variance is that of blocked_ns, as far as looks decided it: of n looks that share out a time t, a
 * stack with the part p has t^2 p (1 - p) / n. That of several stacks together is their variances' sum at most, and that of all others of the account.
 */
struct col_wait_sum {
    struct col_wait_stack *stack;
    uint64_t blocked_ns, ready_ns;
    uint32_t look_count; /* at waits that are over */
    double variance_ns2;
};

/* A wait, or a part of one that goes on. `looks_ns` is the time between looks then; `stack` NULL: it was not seen. */
struct col_wait {
    uint64_t ns;       /* to be accounted */
    uint64_t whole_ns; /* its length so far, of which other parts may have been accounted */
    uint64_t looks_ns;
    uint64_t age_ns; /* when it was seen */
    bool is_over;
    bool is_guess; /* there may have been others before the one that was seen */
    struct col_wait_stack *stack;
};
void col_wait_account_add(struct col_wait_account *account, const struct col_wait *wait);
void col_wait_account_add_ready(struct col_wait_account *account, uint64_t ns);

/* For a thread that ends soon: what it was seen at goes into the pool, and what is to be shared is, octave by octave, that of a stack drawn there. */
void col_wait_account_pool(struct col_wait_account *account, struct col_wait_pool *pool, uint64_t random);

/*
 * Makes sums of it, and begins anew; what no look tells anything of is kept for the next time, unless this `is_last`. They are the caller's, with the stacks that they hold, to be
 * given to release; NULL without any.
 */
struct col_wait_sum *col_wait_account_settle(struct col_wait_account *account, bool is_last, size_t *count);
void col_wait_account_release(struct col_wait_sum *sums, size_t count);

void col_wait_account_free(struct col_wait_account *account);

#endif
