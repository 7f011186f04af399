/* short_processes.c -- starts PROGRAM so many times, one after the other, and waits for each; prints microseconds of wall and of CPU time a process */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double wall_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    int processes = atoi(arguments[1]);
    double begun_s = wall_s();
    for (int i = 0; i < processes; i++) {
        pid_t pid;
        int status;
        if (posix_spawn(&pid, arguments[2], NULL, NULL, arguments + 2, environ) != 0 || waitpid(pid, &status, 0) != pid)
            return 1;
    }
    printf("%.2f %.2f\n", (wall_s() - begun_s) / processes * 1e6, cpu_s() / processes * 1e6);
    return 0;
}
