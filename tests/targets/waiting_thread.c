/* waiting_thread.c -- truth: a thread waits so many times and then for ever; its own count of voluntary switches is printed, and main ends the program */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int asked[2], answered[2];

static void *wait_again_and_again(void *unused)
{
    struct rusage usage;
    char byte;
    for (int i = 0; i < 100; i++)
        usleep(100);
    getrusage(RUSAGE_THREAD, &usage);
    printf("tid %ld\nvoluntary %ld\n", (long)syscall(SYS_gettid), usage.ru_nvcsw);
    if (write(answered[1], "", 1) != 1 || read(asked[0], &byte, 1) != 1)
        return NULL;
    return unused;
}

int main(void)
{
    pthread_t thread;
    char byte;
    if (pipe(asked) != 0 || pipe(answered) != 0 || pthread_create(&thread, NULL, wait_again_and_again, NULL) != 0)
        return 1;
    return read(answered[0], &byte, 1) == 1 ? 0 : 1;
}
