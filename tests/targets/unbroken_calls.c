/* unbroken_calls.c -- truth: no system call returns early because the program is recorded; each case prints what it counted
 *
 * unbroken_calls CASE. A busy thread or bursts of work make the sampling clock tick meanwhile.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

#include "measured_work.h"

static volatile sig_atomic_t seen_count;

static void count(int signo)
{
    (void)signo;
    seen_count++;
}

static volatile int is_over;

/* Long enough for ten samples, also where others take most of the processor. */
static void *keep_busy(void *unused)
{
    while (!is_over || thread_ns() < 250000000)
        work(1000);
    return unused;
}

static int slept_short(int rounds)
{
    struct timespec span = {0, 3000000};
    struct timeval wait;
    struct epoll_event event;
    sem_t semaphore;
    int epoll = epoll_create1(EPOLL_CLOEXEC), short_count = 0;
    sem_init(&semaphore, 0, 0);
    for (int i = 0; i < rounds; i++) {
        struct timespec until;
        work(400);
        short_count += nanosleep(&span, NULL) != 0;
        short_count += clock_nanosleep(CLOCK_MONOTONIC, 0, &span, NULL) != 0;
        short_count += poll(NULL, 0, 3) != 0;
        wait.tv_sec = 0, wait.tv_usec = 3000;
        short_count += select(0, NULL, NULL, NULL, &wait) != 0;
        short_count += epoll_wait(epoll, &event, 1, 3) != 0;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 3000000;
        if (until.tv_nsec >= 1000000000)
            until.tv_sec++, until.tv_nsec -= 1000000000;
        short_count += sem_timedwait(&semaphore, &until) != -1 || errno != ETIMEDOUT;
    }
    close(epoll);
    return short_count;
}

static void sleeps(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, keep_busy, NULL);
    printf("cut short %d\n", slept_short(15));
    is_over = 1;
    pthread_join(thread, NULL);
}

static int pipe_ends[2];

static void *write_slowly(void *unused)
{
    char data[1024] = "";
    for (int i = 0; i < 60; i++) {
        work(4000);
        if (write(pipe_ends[1], data, sizeof data) != (ssize_t)sizeof data)
            abort();
    }
    close(pipe_ends[1]);
    return unused;
}

static void pipe_reads(void)
{
    char data[1024];
    long bytes = 0, failure_count = 0;
    pthread_t thread;
    ssize_t got;
    if (pipe(pipe_ends) != 0)
        abort();
    pthread_create(&thread, NULL, write_slowly, NULL);
    while ((got = read(pipe_ends[0], data, sizeof data)) != 0) {
        failure_count += got < 0;
        bytes += got > 0 ? got : 0;
        work(300);
    }
    pthread_join(thread, NULL);
    printf("bytes %ld failures %ld\n", bytes, failure_count);
}

static void large_reads(void)
{
    enum { BYTES = 16 << 20 };
    char *data = malloc(BYTES);
    int zero = open("/dev/zero", O_RDONLY), short_count = 0;
    for (int i = 0; i < 100; i++) {
        short_count += read(zero, data, BYTES) != BYTES;
        work(500);
    }
    printf("short %d\n", short_count > 0);
    free(data);
}

static void *work_and_wake(void *unused)
{
    work(250000);
    kill(getpid(), SIGALRM);
    return unused;
}

static void suspends(void)
{
    sigset_t all;
    pthread_t thread;
    signal(SIGALRM, count);
    sigemptyset(&all);
    sigaddset(&all, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &all, NULL); /* in the other thread too: the signal waits until it is waited for */
    sigfillset(&all);
    sigdelset(&all, SIGALRM);
    pthread_create(&thread, NULL, work_and_wake, NULL);
    printf("suspended %d\n", sigsuspend(&all));
    printf("alarms %d\n", (int)seen_count);
    pthread_join(thread, NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"sleeps", sleeps}, {"pipe_reads", pipe_reads}, {"large_reads", large_reads}, {"suspends", suspends}};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    return 2;
}
