/* locks.c -- four threads that take and give back two mutexes, so many thousand times each */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static unsigned long counts[2], turns;

static void *compete(void *seed)
{
    unsigned long x = (unsigned long)seed;
    for (unsigned long i = 0; i < turns; i++) {
        unsigned which = i & 1;
        pthread_mutex_lock(&mutexes[which]);
        for (int k = 0; k < 20; k++)
            counts[which] += x = x * 6364136223846793005u + 1;
        pthread_mutex_unlock(&mutexes[which]);
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t ids[4];
    turns = (count > 1 ? strtoul(arguments[1], NULL, 10) : 1000) * 1000;
    for (long i = 0; i < 4; i++)
        pthread_create(&ids[i], NULL, compete, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
