/* heavy_storage.c -- 1 MiB of thread-local storage, which lies in the stack of each thread: a program of its own, so that stacks of other cases may be small */
#include "matrix.h"

static __thread char heavy[1 << 20];
static void *works(void *unused)
{
    for (size_t i = 0; i < sizeof heavy; i += 4096)
        heavy[i] = 1;
    burn();
    return unused;
}

PART(all)
{
    pthread_t first, second;
    pthread_create(&first, NULL, works, NULL);
    pthread_create(&second, NULL, works, NULL);
    burn();
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    say("%d", heavy[0]);
}
