/* ranks.c -- a program of MPI whose last rank works longer: ranks MS [meet | die RANK | wait DIRECTORY]
 *
 * Each rank spends 4 MS in `even`, and 2 MS in `uneven`, the last 8; and prints what it really was: `RANK.FUNCTION NS`, `RANK.process NS`.
 * With `meet` all then wait for the last at a barrier, and print for how long, `RANK.barrier NS`. With `die` that rank then kills itself; with `wait` all tell their process ids by files, and wait for their end.
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned sink;

static int64_t used(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#define WORK(name)                                                                                                     \
    __attribute__((noinline)) static int64_t name(int64_t ns)                                                          \
    {                                                                                                                  \
        int64_t start = used(CLOCK_THREAD_CPUTIME_ID), now;                                                            \
        while ((now = used(CLOCK_THREAD_CPUTIME_ID)) < start + ns)                                                     \
            for (int i = 0; i < 20000; i++)                                                                            \
                sink += (unsigned)i;                                                                                   \
        return now - start;                                                                                            \
    }
WORK(even)
WORK(uneven)

static void tell_and_wait(const char *directory, int rank)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.%d", directory, rank, (int)getpid());
    FILE *file = fopen(path, "w");
    if (file != NULL)
        fclose(file);
    for (;;)
        pause();
}

int main(int count, char **arguments)
{
    int rank, size;
    int64_t unit = (count > 1 ? atoll(arguments[1]) : 10) * 1000000;
    const char *what = count > 2 ? arguments[2] : "";
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t first = even(4 * unit), second = uneven((rank == size - 1 ? 8 : 2) * unit);
    printf("%d.even %lld\n%d.uneven %lld\n%d.process %lld\n", rank, (long long)first, rank, (long long)second, rank, (long long)used(CLOCK_PROCESS_CPUTIME_ID));
    if (strcmp(what, "meet") == 0) {
        int64_t start = used(CLOCK_MONOTONIC);
        MPI_Barrier(MPI_COMM_WORLD);
        printf("%d.barrier %lld\n", rank, (long long)(used(CLOCK_MONOTONIC) - start));
    }
    fflush(stdout);
    if (strcmp(what, "die") == 0 && rank == atoi(arguments[3]))
        kill(getpid(), SIGKILL);
    if (strcmp(what, "wait") == 0)
        tell_and_wait(arguments[3], rank);
    MPI_Finalize();
    return 0;
}
