/* read_speed.c -- reads a log ROUNDS times through pmclog_read: samples, and nanoseconds of CPU time a sample (median of the rounds) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pmclog.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

int main(int count, char **arguments)
{
    int rounds = count > 2 ? atoi(arguments[2]) : 9;
    double *taken = calloc((size_t)rounds, sizeof *taken);
    uint64_t samples = 0, frames = 0, sink = 0;
    for (int round = 0; round < rounds; round++) {
        struct pmclog_ev ev;
        int fd = open(arguments[1], O_RDONLY);
        double start = cpu_seconds();
        void *parser = pmclog_open(fd);
        samples = frames = 0;
        while (pmclog_read(parser, &ev) == 0)
            if (ev.pl_type == PMCLOG_TYPE_PCSAMPLE) {
                samples++;
                frames += ev.pl_u.pl_s.pl_npc;
                sink ^= ev.pl_u.pl_s.pl_pc + (uint64_t)ev.pl_ts.tv_nsec;
            }
        pmclog_close(parser);
        taken[round] = cpu_seconds() - start;
        close(fd);
        if (ev.pl_state != PMCLOG_EOF)
            return 1;
    }
    qsort(taken, (size_t)rounds, sizeof *taken, compare);
    printf("%llu %llu %.3f %llx\n", (unsigned long long)samples, (unsigned long long)frames, taken[rounds / 2] / (double)samples * 1e9,
           (unsigned long long)sink);
    return 0;
}
