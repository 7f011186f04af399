/* sudden_ends.c -- truth: `spent` works 150 ms, prints how long in ns of CPU time, and the process then ends in the way its argument names */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measured_work.h"

NOINLINE static void spent(void) { work(150000); }

static volatile int *volatile nowhere = (volatile int *)8;

static void segv(void) { *nowhere = 1; }
static void by_abort(void) { abort(); }
static void killed(void) { kill(getpid(), SIGKILL); }
static void terminated(void) { kill(getpid(), SIGTERM); }
static void underscore(void) { _exit(11); }
static void raw_exit(void) { syscall(SYS_exit_group, 12); }
static void quick(void) { quick_exit(13); }
static void ordinary(void) { exit(14); }
static void returning(void) {}
static void thread_exits(void) { pthread_exit(NULL); }

static volatile int is_endless = 1;

static void overflow(void)
{
    volatile char page[4096];
    page[0] = 1;
    if (is_endless)
        overflow();
    page[1] = page[0];
}

static void *exit_here(void *unused)
{
    exit(15);
    return unused;
}

static void other_thread_exits(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, exit_here, NULL);
    pthread_join(thread, NULL);
}

static void exit_while_threads_run(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, (void *(*)(void *))(void *)spent, NULL);
    work(30000);
    exit(16);
}

static const struct {
    const char *name;
    void (*run)(void);
} ends[] = {
    {"segv", segv}, {"abort", by_abort}, {"killed", killed}, {"terminated", terminated}, {"underscore", underscore}, {"raw_exit", raw_exit},
    {"quick", quick}, {"ordinary", ordinary}, {"returning", returning}, {"thread_exits", thread_exits}, {"overflow", overflow},
    {"other_thread_exits", other_thread_exits}, {"exit_while_threads_run", exit_while_threads_run},
};

int main(int argc, char **argv)
{
    struct account account = {"spent", 0};
    BOOK(account, spent());
    print_account(&account);
    fflush(stdout);
    for (size_t i = 0; argc > 1 && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(argv[1], ends[i].name) == 0)
            ends[i].run();
    return 10;
}
