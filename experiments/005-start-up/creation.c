/* creation.c -- prints microseconds: pthread_create and join, fork and wait, each of COUNT after a warm-up; wall time, one at a time */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void *nothing(void *unused)
{
    return unused;
}

static void create_thread(void)
{
    pthread_t id;
    if (pthread_create(&id, NULL, nothing, NULL) != 0 || pthread_join(id, NULL) != 0)
        exit(1);
}

static void create_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    if (waitpid(pid, NULL, 0) != pid)
        exit(1);
}

static double cost_us(void (*create)(void), int count)
{
    for (int i = 0; i < count / 10; i++)
        create();
    double begun = now_us();
    for (int i = 0; i < count; i++)
        create();
    return (now_us() - begun) / count;
}

int main(int count, char **arguments)
{
    int times = count > 1 ? atoi(arguments[1]) : 1000;
    double thread_us = cost_us(create_thread, times * 5);
    printf("%.3f %.3f\n", thread_us, cost_us(create_process, times));
    return 0;
}
