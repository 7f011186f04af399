/* metric_heir.c -- sleeps while two programs are busy: the first is killed after 500 ms, the second goes on for 400 more. Prints "first PID" and "second PID" */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void work(long ms)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (volatile int i = 0; i < 20000; i++)
            continue;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

static pid_t run(const char *program, const char *name, const char *ms)
{
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, name, ms, (char *)NULL);
        _exit(127);
    }
    return child;
}

int main(int argc, char **argv)
{
    if (argc > 2) {
        char line[64];
        int length = snprintf(line, sizeof line, "%s %d\n", argv[1], (int)getpid());
        if (write(1, line, (size_t)length) != length)
            return 1;
        work(atol(argv[2]));
        if (strcmp(argv[1], "first") == 0)
            raise(SIGKILL);
        return 0;
    }
    pid_t first = run(argv[0], "first", "500"), second = run(argv[0], "second", "900");
    waitpid(first, NULL, 0);
    waitpid(second, NULL, 0);
    return 0;
}
