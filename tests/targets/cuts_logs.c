/* cuts_logs.c -- cuts every file named *.log that is mapped here, again and again, while two threads work; forks, and exits with 3 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measured_work.h"

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

static void *work_beside(void *unused)
{
    work(150000);
    return unused;
}

int main(void)
{
    pthread_t beside;
    work(50000);
    pthread_create(&beside, NULL, work_beside, NULL);
    for (int i = 0; i < 10; i++) {
        cut();
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
