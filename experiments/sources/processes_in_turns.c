/* processes_in_turns.c -- two processes on one processor that hand each other a byte through pipes, so many thousand times: two switches and four system calls each time */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int take_turns(int in, int out, unsigned long count)
{
    char byte = 0;
    for (unsigned long i = 0; i < count; i++)
        if (read(in, &byte, 1) != 1 || write(out, &byte, 1) != 1)
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    unsigned long count = strtoul(argc > 1 ? argv[1] : "100", NULL, 10) * 1000;
    int there[2], back[2], status = 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    if (pipe(there) != 0 || pipe(back) != 0 || write(back[1], "", 1) != 1)
        return 1;
    pid_t other = fork();
    if (other == 0)
        _exit(take_turns(there[0], back[1], count));
    int failed = take_turns(back[0], there[1], count);
    waitpid(other, &status, 0);
    return failed || status != 0;
}
