/* short_threads.c -- truth: COUNT threads ran, eight at a time, and did nothing; prints how many, and the peak of resident memory */
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "measured_work.h"

enum { AT_ONCE = 8 };
static int thread_count;

static void *run(void *unused)
{
    __atomic_fetch_add(&thread_count, 1, __ATOMIC_RELAXED);
    return unused;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 60000;
    struct rusage usage;
    pthread_t threads[AT_ONCE];
    for (int done = 0; done < count; done += AT_ONCE) {
        int now = count - done < AT_ONCE ? count - done : AT_ONCE;
        for (int i = 0; i < now; i++)
            if (pthread_create(&threads[i], NULL, run, NULL) != 0)
                return 1;
        for (int i = 0; i < now; i++)
            pthread_join(threads[i], NULL);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("threads %d\npeak_kib %ld\n", thread_count, usage.ru_maxrss);
    return 0;
}
