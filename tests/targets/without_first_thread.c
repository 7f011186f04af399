/* without_first_thread.c -- ends in a second thread, when the first has been gone for long */
#include <pthread.h>
#include <stdlib.h>

static void *outlive(void *first)
{
    pthread_join(*(pthread_t *)first, NULL);
    exit(0);
}

int main(void)
{
    static pthread_t first;
    pthread_t second;
    first = pthread_self();
    if (pthread_create(&second, NULL, outlive, &first) != 0)
        return 1;
    pthread_exit(NULL);
}
