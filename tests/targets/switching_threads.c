/* switching_threads.c -- two threads hand a token to and fro. Truth: each thread's own count of voluntary and involuntary switches while it does so and since it began, and its CPU time, printed. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { HANDS = 300, WORK = 20000 };

static int tokens[2][2];

static void *hand_on(void *argument)
{
    long self = (long)argument;
    char token = 't';
    volatile unsigned sum = 0;
    struct rusage before, after;
    struct timespec cpu;
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < HANDS; i++) {
        if (self == 0 && write(tokens[0][1], &token, 1) != 1)
            break;
        if (read(tokens[1 - self][0], &token, 1) != 1)
            break;
        if (self == 1 && write(tokens[1][1], &token, 1) != 1)
            break;
        for (unsigned k = 0; k < WORK; k++)
            sum += k;
    }
    getrusage(RUSAGE_THREAD, &after);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    printf("voluntary_so_far%ld %ld\ninvoluntary_so_far%ld %ld\n", self, after.ru_nvcsw, self, after.ru_nivcsw);
    printf("voluntary%ld %ld\ninvoluntary%ld %ld\ncpu_us%ld %ld\ntid%ld %ld\n", self, after.ru_nvcsw - before.ru_nvcsw, self, after.ru_nivcsw - before.ru_nivcsw, self,
           cpu.tv_sec * 1000000 + cpu.tv_nsec / 1000, self, (long)syscall(SYS_gettid));
    return NULL;
}

int main(void)
{
    pthread_t other;
    if (pipe(tokens[0]) != 0 || pipe(tokens[1]) != 0)
        return 1;
    /* Thread 0 reads what thread 1 wrote, and the other way round. */
    pthread_create(&other, NULL, hand_on, (void *)1L);
    hand_on((void *)0L);
    pthread_join(other, NULL);
    return 0;
}
