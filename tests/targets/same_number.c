/* same_number.c -- truth: six processes of a PID namespace have the number 100 one after the other, the fourth of them runs two programs
 *
 * "spawned" and "executed" are the program again, with that argument. Prints the number of each. Status 3: the next number cannot be chosen here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measured_work.h"

extern char **environ;

enum { NUMBER = 100 };

NOINLINE static void work_in_child(void) { work(30000); }

static void choose_next(void)
{
    char text[] = "99";
    int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        exit(3);
    close(fd);
}

static pid_t spawn(char *program)
{
    char *arguments[] = {program, "spawned", NULL};
    pid_t pid = -1;
    posix_spawn(&pid, program, NULL, NULL, arguments, environ);
    return pid;
}

static pid_t fork_and(const char *what, char *program)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    if (strcmp(what, "leave") == 0) /* the next one begins in the same hundredth of a second, as a rule */
        exit(0);
    work_in_child();
    if (strcmp(what, "execute") == 0)
        execl(program, program, "executed", NULL);
    exit(0);
}

int main(int argc, char **argv)
{
    static const char *const ways[] = {"spawn", "work", "spawn", "execute", "leave", "leave"};
    if (argc > 1) {
        work_in_child();
        return 0;
    }
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; i++) {
        choose_next();
        pid_t pid = strcmp(ways[i], "spawn") == 0 ? spawn(argv[0]) : fork_and(ways[i], argv[0]);
        while (waitpid(pid, NULL, 0) == -1 && errno == EINTR)
            ;
        printf("%s %d\n", ways[i], (int)pid - NUMBER);
        fflush(stdout);
    }
    return 0;
}
