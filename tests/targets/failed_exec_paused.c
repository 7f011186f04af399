/* failed_exec_paused.c -- while it is paused it tries to run a file that is no program, and works; then it resumes, and works on */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libcollector.h"

__attribute__((noinline)) static void paused_work(void)
{
    for (clock_t until = clock() + CLOCKS_PER_SEC / 5; clock() < until;)
        continue;
}

__attribute__((noinline)) static void recorded_work(void)
{
    for (clock_t until = clock() + CLOCKS_PER_SEC / 10; clock() < until;)
        continue;
}

int main(void)
{
    char name[64];
    int fd = memfd_create("no_program", 0);
    if (fd < 0 || write(fd, "\x7f" "ELF of none", 12) != 12)
        return 1;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    collector_pause();
    if (execl(name, name, (char *)NULL) != -1 || errno != ENOEXEC)
        return 2;
    paused_work();
    collector_resume();
    recorded_work();
    return 3;
}
