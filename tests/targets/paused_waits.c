/* paused_waits.c -- truth: how long recorded_naps slept while recording was on, and paused_naps while it was not; the thread of other_naps sleeps all the time, and ends in a pause
 *
 * paused_waits ROUNDS MILLISECONDS
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "libcollector.h"
#include "measured_work.h"

static int rounds = 20;
static long nap_ms = 30;
static atomic_bool is_over;

static void nap(void)
{
    struct timespec length = {nap_ms / 1000, nap_ms % 1000 * 1000000};
    nanosleep(&length, NULL);
    __asm__ volatile("");
}

NOINLINE static void recorded_naps(void)
{
    nap();
    __asm__ volatile("");
}

NOINLINE static void paused_naps(void)
{
    nap();
    __asm__ volatile("");
}

NOINLINE static void *other_naps(void *unused)
{
    while (!is_over)
        nap();
    return unused;
}

static void book(struct account *account, void (*run)(void))
{
    int64_t begin = ns_of(CLOCK_MONOTONIC);
    run();
    account->ns += ns_of(CLOCK_MONOTONIC) - begin;
}

int main(int argc, char **argv)
{
    struct account recorded = {"recorded_naps", 0}, paused = {"paused_naps", 0};
    pthread_t other;
    rounds = argc > 1 ? atoi(argv[1]) : rounds;
    nap_ms = argc > 2 ? atol(argv[2]) : nap_ms;
    pthread_create(&other, NULL, other_naps, NULL);
    for (int i = 0; i < rounds; i++) {
        book(&recorded, recorded_naps);
        collector_pause();
        book(&paused, paused_naps);
        collector_resume();
    }
    collector_pause();
    is_over = true;
    pthread_join(other, NULL);
    print_account(&recorded);
    print_account(&paused);
    return 0;
}
