/* runs_a_child.c -- truth: runs a program in the way its first argument names, and says what became of it
 *
 * runs_a_child WAY PROGRAM: `execvp` and `spawnp` find the program's last part in PATH.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char *arguments[] = {"child", NULL};
static const char *way, *program, *name;

static int memory_copy(void)
{
    char bytes[65536];
    ssize_t length;
    int from = open(program, O_RDONLY | O_CLOEXEC), to = memfd_create("child", MFD_CLOEXEC);
    while ((length = read(from, bytes, sizeof bytes)) > 0)
        if (write(to, bytes, (size_t)length) != length)
            _exit(9);
    return to;
}

static void become(void)
{
    if (strcmp(way, "execve") == 0 || strcmp(way, "vfork") == 0 || strcmp(way, "exec") == 0)
        execve(program, arguments, environ);
    else if (strcmp(way, "bare") == 0)
        execve(program, arguments, (char *[]){"LD_PRELOAD=", NULL});
    else if (strcmp(way, "execvp") == 0)
        execvp(name, arguments);
    else if (strcmp(way, "execl") == 0)
        execl(program, "child", (char *)NULL);
    else if (strcmp(way, "relative") == 0 && chdir("/") == 0)
        execv(program + 1, arguments);
    else if (strcmp(way, "fexecve") == 0)
        fexecve(open(program, O_RDONLY), arguments, environ);
    else if (strcmp(way, "path_only") == 0)
        fexecve(open(program, O_PATH), arguments, environ);
    else if (strcmp(way, "memfd") == 0)
        fexecve(memory_copy(), arguments, environ);
    else if (strcmp(way, "execveat") == 0)
        execveat(open("/", O_PATH), program + 1, arguments, environ, 0);
    printf("not run: %s\n", strerror(errno));
    fflush(stdout);
    _exit(9);
}

static pid_t spawn(void)
{
    pid_t pid = -1;
    int error = strcmp(way, "spawn") == 0 ? posix_spawn(&pid, program, NULL, NULL, arguments, environ) : posix_spawnp(&pid, name, NULL, NULL, arguments, environ);
    printf("spawn %d\n", error);
    return pid;
}

int main(int argc, char **argv)
{
    int status = -1;
    if (argc != 3)
        return 2;
    way = argv[1];
    program = argv[2];
    name = strrchr(program, '/') + 1;
    if (strcmp(way, "exec") == 0)
        become();
    if (strcmp(way, "system") == 0)
        printf("system %d\n", WEXITSTATUS(system(program)));
    pid_t pid = -1;
    fflush(stdout);
    if (strncmp(way, "spawn", 5) == 0)
        pid = spawn();
    else if (strcmp(way, "vfork") == 0)
        pid = vfork();
    else if (strcmp(way, "system") != 0)
        pid = fork();
    if (pid == 0)
        become();
    waitpid(pid, &status, 0);
    printf("exited %d status %d\n", WIFEXITED(status), WEXITSTATUS(status));
    return 4;
}
