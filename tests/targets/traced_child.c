/* traced_child.c -- its child has itself traced and works for 200 ms; prints how often it stopped: once, at its own SIGSTOP */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;

static void work(double seconds)
{
    struct timespec now;
    do {
        for (int i = 0; i < 100000; i++)
            sink += (unsigned long)i;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    } while ((double)now.tv_sec + (double)now.tv_nsec / 1e9 < seconds);
}

int main(void)
{
    int status, stops = 0;
    pid_t child = fork();
    if (child == 0) {
        work(0.05);
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(3);
        raise(SIGSTOP);
        work(0.25);
        _exit(0);
    }
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        stops++;
        ptrace(PTRACE_CONT, child, NULL, (void *)(long)(WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status)));
    }
    printf("stops %d\n", stops);
    return WEXITSTATUS(status);
}
