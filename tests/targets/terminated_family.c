/* terminated_family.c -- runs itself in every way, once before it ends its experiment and then after; each run says whether the recorder is preloaded
 *
 * A line each: `WAY recorded` or `WAY free`.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcollector.h"

extern char **environ;

static int tell(const char *way)
{
    const char *preload = getenv("LD_PRELOAD");
    printf("%s %s\n", way, preload != NULL && strstr(preload, "libcollector.so") != NULL ? "recorded" : "free");
    return 0;
}

static void run_by_shell(const char *program, const char *way)
{
    char command[4096];
    snprintf(command, sizeof command, "'%s' %s", program, way);
    if (system(command) != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    char *spawned[] = {argv[0], "spawned", NULL}, *forked[] = {argv[0], "forked", NULL}, *replaced[] = {argv[0], "replaced", NULL};
    pid_t pid;
    if (argc > 1)
        return tell(argv[1]);
    run_by_shell(argv[0], "before");
    collector_terminate_expt();
    run_by_shell(argv[0], "shell");
    if (posix_spawn(&pid, argv[0], NULL, NULL, spawned, environ) != 0 || waitpid(pid, NULL, 0) != pid)
        return 1;
    if ((pid = fork()) == 0) {
        execv(argv[0], forked);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
    execv(argv[0], replaced);
    return 1;
}
