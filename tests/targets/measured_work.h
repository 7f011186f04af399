/* measured_work.h -- work whose CPU time a target measures itself, so that it can state the truth about its own profile
 *
 * A target runs work(us) inside the functions it makes statements about, and books what the thread's CPU clock says
 * that took: BOOK(account, statement). print_account writes `name nanoseconds`, one line a name.
 */
#ifndef MEASURED_WORK_H
#define MEASURED_WORK_H

#include <stdint.h>
#include <stdio.h>
#include <time.h>

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static inline int64_t ns_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t thread_ns(void)
{
    return ns_of(CLOCK_THREAD_CPUTIME_ID);
}

static inline int64_t process_ns(void)
{
    return ns_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* From a half to three halves of so many, by chance: no sampling clock keeps step with work of such lengths. Of every run another: what a clock makes of one is its luck. */
static inline __attribute__((always_inline)) long about(long count)
{
    static __thread uint64_t chance;
    if (chance == 0)
        chance = (uint64_t)ns_of(CLOCK_MONOTONIC);
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return count / 2 + count * (long)(chance >> 48) / 65536;
}

/* A chain of multiplications that no optimiser shortens. */
static inline __attribute__((always_inline)) uint64_t churn(uint64_t x, long steps)
{
    for (; steps > 0; steps--) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

static volatile uint64_t churned;

/*
 * About this much CPU time of the calling function itself: inlined, so that no other name takes it. The line number
 * keeps the compiler from making one function of two that do the same.
 */
#define work(us) ({ __asm__ volatile("" : : "i"(__LINE__)); work_here(us); })

static inline __attribute__((always_inline)) void work_here(long us)
{
    int64_t end = thread_ns() + us * 1000;
    uint64_t x = churned;
    do
        x = churn(x, 20000);
    while (thread_ns() < end);
    churned = x;
}

struct account {
    const char *name;
    int64_t ns;
};

/* Runs `statement` and adds the CPU time it took to `account`. */
#define BOOK(account, statement)                \
    do {                                        \
        int64_t booked_from_ = thread_ns();     \
        statement;                              \
        (account).ns += thread_ns() - booked_from_; \
    } while (0)

static inline void print_account(const struct account *account)
{
    printf("%s %lld\n", account->name, (long long)account->ns);
}

#endif
