/* waits.c -- `waits switch COUNT` prints the microseconds of a switch between two processes; `waits nap COUNT` those of CPU time that a nap of 300 us takes; `waits idle THREADS SECONDS` has so many threads do nothing */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static int switches(int count)
{
    int there[2], back[2];
    char byte = 0;
    if (pipe(there) != 0 || pipe(back) != 0)
        return 1;
    if (fork() == 0) {
        for (int i = 0; i < count && read(there[0], &byte, 1) == 1; i++)
            if (write(back[1], &byte, 1) != 1)
                _exit(1);
        _exit(0);
    }
    double start = now_us();
    for (int i = 0; i < count; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            return 1;
    printf("%.3f\n", (now_us() - start) / count / 2);
    wait(NULL);
    return 0;
}

static int naps(int count)
{
    struct timespec nap = {0, 300000}, used;
    for (int i = 0; i < count; i++)
        nanosleep(&nap, NULL);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    printf("%.3f\n", ((double)used.tv_sec * 1e6 + (double)used.tv_nsec * 1e-3) / count);
    return 0;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *wait_for_nothing(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
    return unused;
}

static int idle(int thread_count, unsigned seconds)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int i = 0; i < thread_count; i++)
        if (pthread_create(&thread, &small, wait_for_nothing, NULL) != 0)
            return 1;
    sleep(seconds);
    _exit(0);
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], "switch") == 0)
        return switches(atoi(arguments[2]));
    if (count == 3 && strcmp(arguments[1], "nap") == 0)
        return naps(atoi(arguments[2]));
    if (count == 4 && strcmp(arguments[1], "idle") == 0)
        return idle(atoi(arguments[2]), (unsigned)atoi(arguments[3]));
    return 2;
}
