/*
 * openmp_regions.c -- parallel regions whose work, and whose waiting at a barrier, is planted and measured by each thread itself
 *
 * The argument is milliseconds of work. Two threads. `uneven`: the second works three times as long. `meets`: the same, and then both meet at a barrier. `outer` opens `inner` in both threads, `hands_out` makes tasks. Truth: NAME.THREAD ns
 * of work, `barrier ns`, and `serial ns` outside regions.
 */
#include "measured_work.h"

#include <omp.h>
#include <stdlib.h>

enum { ROUNDS = 20 };

static struct account uneven_work[2] = {{"uneven.0", 0}, {"uneven.1", 0}}, meets_work[2] = {{"meets.0", 0}, {"meets.1", 0}},
                      outer_work = {"outer.all", 0}, inner_work = {"inner.all", 0}, task_work = {"hands_out.all", 0}, serial_work = {"serial", 0},
                      barrier = {"barrier", 0};

NOINLINE void labour(long us)
{
    work(us);
}

static void book_shared(struct account *account, long us)
{
    int64_t from = thread_ns();
    labour(us);
    __atomic_fetch_add(&account->ns, thread_ns() - from, __ATOMIC_RELAXED);
}

NOINLINE void uneven(long us)
{
#pragma omp parallel num_threads(2)
    {
        int own = omp_get_thread_num();
        BOOK(uneven_work[own], labour(us * (1 + 2 * own)));
    }
    __asm__ volatile("");
}

NOINLINE void meets(long us)
{
#pragma omp parallel num_threads(2)
    {
        int own = omp_get_thread_num();
        int64_t from, waited;
        BOOK(meets_work[own], labour(us * (1 + 2 * own)));
        from = thread_ns();
#pragma omp barrier
        waited = thread_ns() - from;
        __atomic_fetch_add(&barrier.ns, waited, __ATOMIC_RELAXED);
    }
    __asm__ volatile("");
}

NOINLINE void inner(long us)
{
#pragma omp parallel num_threads(2)
    book_shared(&inner_work, us);
    __asm__ volatile("");
}

NOINLINE void outer(long us)
{
#pragma omp parallel num_threads(2)
    {
        book_shared(&outer_work, us);
        inner(us);
    }
    __asm__ volatile("");
}

NOINLINE void hands_out(long us)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 4; i++) {
#pragma omp task
        book_shared(&task_work, us);
    }
    __asm__ volatile("");
}

int main(int count, char **words)
{
    long us = (count > 1 ? atol(words[1]) : 100) * 1000 / ROUNDS;
    omp_set_max_active_levels(2);
    for (int round = 0; round < ROUNDS; round++) {
        uneven(about(us));
        meets(about(us));
        outer(about(us) / 2);
        hands_out(about(us) / 2);
        BOOK(serial_work, labour(about(us)));
    }
    for (int own = 0; own < 2; own++) {
        print_account(&uneven_work[own]);
        print_account(&meets_work[own]);
    }
    print_account(&outer_work);
    print_account(&inner_work);
    print_account(&task_work);
    print_account(&serial_work);
    print_account(&barrier);
    return 0;
}
