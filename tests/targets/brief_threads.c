/* brief_threads.c -- truth: COUNT threads of MICROSECONDS each, `brief` is all they do; prints their CPU time together, and the process's
 *
 * brief_threads COUNT MICROSECONDS AT_ONCE
 */
#include <pthread.h>
#include <stdlib.h>

#include "measured_work.h"

static long us;
static int64_t total_ns;

NOINLINE void brief(void)
{
    work(us);
}

static void *run(void *unused)
{
    brief();
    __atomic_fetch_add(&total_ns, thread_ns(), __ATOMIC_RELAXED);
    return unused;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 400, at_once = argc > 3 ? atoi(argv[3]) : 4;
    us = argc > 2 ? atol(argv[2]) : 5000;
    pthread_t threads[64];
    if (at_once > 64)
        at_once = 64;
    for (int done = 0; done < count; done += at_once) {
        int now = count - done < at_once ? count - done : at_once;
        for (int i = 0; i < now; i++)
            if (pthread_create(&threads[i], NULL, run, NULL) != 0)
                return 1;
        for (int i = 0; i < now; i++)
            pthread_join(threads[i], NULL);
    }
    printf("run %lld\nprocess %lld\n", (long long)total_ns, (long long)process_ns());
    return 0;
}
