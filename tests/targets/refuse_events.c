/* refuse_events.c -- forbids itself perf events, as containers do, and runs the rest of its command line; alone it burns 200 ms of CPU in `spend` and prints "spend NANOSECONDS" */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

long spend(long until_ns);

__attribute__((noinline)) long spend(long until_ns)
{
    volatile long turns = 0;
    while (cpu_ns() < until_ns)
        for (int i = 0; i < 100000; i++)
            turns++;
    return turns;
}

static int refuse(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof steps / sizeof *steps, steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : -1;
}

int main(int count, char **arguments)
{
    if (count > 1) {
        if (refuse() != 0)
            return 3;
        execv(arguments[1], arguments + 1);
        return 4;
    }
    long begun_ns = cpu_ns();
    spend(begun_ns + 200000000);
    printf("spend %ld\n", cpu_ns() - begun_ns);
    return 0;
}
