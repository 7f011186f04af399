/*
 * mpi_calls.c -- two ranks that do not work alike, and so wait for each other in calls that are made from known places
 *
 * The argument is milliseconds of work. Rank 1 works twice as long before add_up, rank 0 before meet. Truth, of each rank R: add_up.R and meet.R, the CPU time of the rank's thread in MPI_Allreduce and MPI_Barrier.
 */
#include "measured_work.h"

#include <mpi.h>
#include <stdlib.h>

static struct account in_add_up, in_meet;

NOINLINE void labour(long us)
{
    work(us);
}

NOINLINE void add_up(void)
{
    double own = 1, sum;
    BOOK(in_add_up, MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

NOINLINE void meet(void)
{
    BOOK(in_meet, MPI_Barrier(MPI_COMM_WORLD));
}

int main(int count, char **words)
{
    enum { ROUNDS = 10 };
    int rank;
    long us = atol(words[1]) * 1000 / ROUNDS;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = 0; round < ROUNDS; round++) {
        labour(us * (1 + rank));
        add_up();
        labour(us * (2 - rank));
        meet();
    }
    printf("add_up.%d %lld\nmeet.%d %lld\n", rank, (long long)in_add_up.ns, rank, (long long)in_meet.ns);
    MPI_Finalize();
    return 0;
}
