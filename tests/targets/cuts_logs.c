/* cuts_logs.c -- cuts every file named *.log that is mapped here, again and again, between pieces of work of two threads; forks, and exits with 3
 *
 * The other thread waits meanwhile: what a thread is about to store when its page goes is SIGBUS, see docs/security.md.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measured_work.h"

#define CUTS 10

static void cut(void)
{
    char line[5000], *path;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        path = strchr(line, '/');
        if (path != NULL && strlen(path) > 4 && strcmp(path + strlen(path) - 4, ".log") == 0 && truncate(path, 0) != 0)
            perror(path);
    }
    fclose(maps);
}

static pthread_barrier_t turns;

static void *work_beside(void *unused)
{
    for (int i = 0; i < CUTS; i++) {
        work(10000);
        pthread_barrier_wait(&turns);
        pthread_barrier_wait(&turns);
    }
    work(10000);
    return unused;
}

int main(void)
{
    pthread_t beside;
    work(50000);
    pthread_barrier_init(&turns, NULL, 2);
    pthread_create(&beside, NULL, work_beside, NULL);
    for (int i = 0; i < CUTS; i++) {
        pthread_barrier_wait(&turns);
        cut();
        pthread_barrier_wait(&turns);
        work(10000);
    }
    pthread_join(beside, NULL);
    if (fork() == 0) {
        work(20000);
        _exit(0);
    }
    wait(NULL);
    puts("done");
    return 3;
}
