/* hand_over.c -- two threads on two processors that hand over to each other, so many thousand times: a switch or two each time, and little else */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>

static sem_t turns[2];
static unsigned long count;

/* Where there is but one processor both stay on it. */
static void stay_on(int number)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && number-- == 0) {
            CPU_SET(cpu, &one);
            sched_setaffinity(0, sizeof one, &one);
        }
}

static void *take_turns(void *number)
{
    long mine = (long)number;
    stay_on((int)mine);
    for (unsigned long i = 0; i < count; i++) {
        sem_wait(&turns[mine]);
        for (volatile int work = 0; work < 300; work++)
            continue;
        sem_post(&turns[!mine]);
    }
    return NULL;
}

int main(int argc, char **arguments)
{
    pthread_t ids[2];
    count = (argc > 1 ? strtoul(arguments[1], NULL, 10) : 10) * 1000;
    for (long i = 0; i < 2; i++)
        sem_init(&turns[i], 0, i == 0);
    for (long i = 0; i < 2; i++)
        pthread_create(&ids[i], NULL, take_turns, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(ids[i], NULL);
    return 0;
}
