/* starts.c -- CPU time of programs that do nothing, in turn natively and recorded: starts COUNT LIBRARY EXPERIMENT; a line of two numbers a turn, microseconds */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

/* As the scheduler accounts it, to the microsecond; what the parent spends on making it is not in it. */
static long start_us(char **environment)
{
    char *words[] = {"/bin/true", NULL};
    struct rusage usage;
    int status;
    pid_t child;
    if (posix_spawn(&child, words[0], NULL, NULL, words, environment) != 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        exit(1);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

int main(int argc, char **argv)
{
    static char preload[4200], experiment[4200];
    char *recorded[64] = {preload, experiment};
    int count = argc > 3 ? atoi(argv[1]) : 0;
    if (count == 0)
        return 2;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[2]);
    snprintf(experiment, sizeof experiment, "COLLECTOR_EXPERIMENT=%s", argv[3]);
    for (int i = 0; i < 60 && environ[i] != NULL; i++)
        recorded[2 + i] = environ[i];
    for (int i = 0; i < count; i++) {
        long native = i % 2 == 0 ? start_us(environ) : 0, ours = start_us(recorded);
        printf("%ld %ld\n", i % 2 == 0 ? native : start_us(environ), ours);
    }
    return 0;
}
