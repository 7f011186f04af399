/* execs_amid_waits.c -- becomes itself as often as its argument says, with threads that wait all the while, and then ends with status 7; each image also runs /bin/true in a child of fork, vfork and posix_spawn, and ends with 8 if that dies */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *nothing[] = {"true", NULL};

static void *wait_always(void *argument)
{
    for (;;)
        usleep(100);
    return argument;
}

static int ended_well(pid_t child)
{
    int status;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static pid_t fork_true(void)
{
    pid_t child = fork();
    if (child == 0) {
        execv("/bin/true", nothing);
        _exit(9);
    }
    return child;
}

static pid_t vfork_true(void)
{
    pid_t child = vfork();
    if (child == 0) {
        execv("/bin/true", nothing);
        _exit(9);
    }
    return child;
}

static pid_t spawn_true(void)
{
    pid_t child;
    return posix_spawn(&child, "/bin/true", NULL, NULL, nothing, environ) == 0 ? child : -1;
}

int main(int count, char **arguments)
{
    int left = count > 1 ? atoi(arguments[1]) : 0;
    char next[16];
    pthread_t thread;
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, NULL, wait_always, NULL);
    if (!ended_well(fork_true()) || !ended_well(vfork_true()) || !ended_well(spawn_true()))
        return 8;
    if (left == 0)
        return 7;
    snprintf(next, sizeof next, "%d", left - 1);
    execv(arguments[0], (char *[]){arguments[0], next, NULL});
    return 9;
}
