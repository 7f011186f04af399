/* memory.c -- THREADS further threads compute for 30 ms each and wait; prints KiB resident then: all, anonymous, of files and shared memory */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_barrier_t done, leave;

static void compute(void)
{
    struct timespec now;
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < 30000000);
}

static void *run(void *unused)
{
    compute();
    pthread_barrier_wait(&done);
    pthread_barrier_wait(&leave);
    return unused;
}

static long status_kib(const char *name)
{
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kib = atol(line + strlen(name) + 1);
    if (file)
        fclose(file);
    return kib;
}

int main(int count, char **arguments)
{
    int threads = count > 1 ? atoi(arguments[1]) : 0;
    pthread_t ids[256];
    pthread_barrier_init(&done, NULL, (unsigned)threads + 1);
    pthread_barrier_init(&leave, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        pthread_create(&ids[i], NULL, run, NULL);
    compute();
    pthread_barrier_wait(&done);
    printf("%ld %ld %ld\n", status_kib("VmRSS:"), status_kib("RssAnon:"), status_kib("RssFile:") + status_kib("RssShmem:"));
    pthread_barrier_wait(&leave);
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
