/* late_fork.c -- as a library (-DLIBRARY): its destructor forks, and the child works; as the program: it is linked with that and ends at once */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef LIBRARY
__attribute__((noinline)) static void work(void)
{
    struct timespec now;
    do {
        for (volatile int i = 0; i < 20000; i++)
            continue;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec == 0 && now.tv_nsec < 80000000);
}

__attribute__((destructor)) static void finish(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        work();
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}
#else
int main(void)
{
    return 0;
}
#endif
