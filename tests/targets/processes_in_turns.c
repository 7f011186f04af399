/* processes_in_turns.c -- truth: two processes on one processor hand each other a byte, thousands of times a second, and use three and one parts of the time meanwhile; then one computes
 *
 * processes_in_turns PLAY_MS COMPUTE_MS [TELL]. Prints what the first process used for each, in ns of CPU time; before, if it is to tell, its number.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measured_work.h"

NOINLINE void three_parts(void) { churned = churn(churned, 3000); }
NOINLINE void one_part(void) { churned = churn(churned, 1000); }

NOINLINE void computes(long ms)
{
    int64_t end = thread_ns() + ms * 1000000;
    while (thread_ns() < end)
        work(100);
}

/* Until the time is over, which the other one notices by the end of its pipe. */
NOINLINE void plays(int in, int out, long ms)
{
    char byte = 0;
    int64_t end = thread_ns() + ms * 1000000;
    while (read(in, &byte, 1) == 1 && (ms == 0 || thread_ns() < end)) {
        three_parts();
        one_part();
        if (write(out, &byte, 1) != 1)
            break;
    }
    close(in);
    close(out);
}

int main(int argc, char **argv)
{
    int there[2], back[2];
    cpu_set_t one;
    struct account accounts[] = {{"plays", 0}, {"computes", 0}};
    if (argc < 3 || pipe(there) != 0 || pipe(back) != 0)
        return 2;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return 3;
    signal(SIGPIPE, SIG_IGN);
    if (argc > 3) {
        printf("%d\n", getpid());
        fflush(stdout);
    }
    if (write(back[1], "", 1) != 1)
        return 4;
    pid_t other = fork();
    if (other == 0) {
        close(there[1]);
        close(back[0]);
        plays(there[0], back[1], 0);
        _exit(0);
    }
    close(there[0]);
    close(back[1]);
    BOOK(accounts[0], plays(back[0], there[1], atol(argv[1])));
    waitpid(other, NULL, 0);
    BOOK(accounts[1], computes(atol(argv[2])));
    print_account(&accounts[0]);
    print_account(&accounts[1]);
    return 0;
}
