/* cancelled_threads.c -- truth: each of so many threads is cancelled as soon as it was made, and works until it finds out; the program tells how many did, and their CPU time */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measured_work.h"

static pthread_t threads[4000];

static void *work_in_thread(void *type)
{
    pthread_setcanceltype(*(int *)type, NULL);
    for (uint64_t x = 1;; pthread_testcancel())
        churned = x = churn(x, 20000);
    return NULL;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 0, cancelled = 0;
    int type = argc > 2 && strcmp(argv[2], "async") == 0 ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    void *result;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 16);
    for (int i = 0; i < count; i++) {
        pthread_create(&threads[i], &attributes, work_in_thread, &type);
        pthread_cancel(threads[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("cancelled %d\n", cancelled);
    return 0;
}
