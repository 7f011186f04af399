/* metric_cancel.c -- cancels so many threads at any instruction, one after the other, then is busy for 300 ms of CPU time; prints "cancelled" with how many were */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile int is_spinning;

static void *spin(void *argument)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
        is_spinning = 1;
    return argument;
}

int main(int argc, char **argv)
{
    int count = 0, wanted = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < wanted; i++) {
        pthread_t thread;
        void *result = NULL;
        is_spinning = 0;
        pthread_create(&thread, NULL, spin, NULL);
        while (!is_spinning)
            continue;
        for (clock_t end = clock() + (i % 10 + 2) * CLOCKS_PER_SEC / 1000; clock() < end;)
            continue;
        pthread_cancel(thread);
        pthread_join(thread, &result);
        count += result == PTHREAD_CANCELED;
    }
    printf("cancelled %d\n", count);
    for (clock_t end = clock() + 3 * CLOCKS_PER_SEC / 10; clock() < end;)
        continue;
    return 0;
}
