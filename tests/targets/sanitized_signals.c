/*
 * sanitized_signals.c -- threads whose handlers do what the threads do, for ThreadSanitizer to follow
 *
 * Each atomic is a new one, so that the sanitizer's runtime often takes its locks; its own wrappers keep a signal back until it holds none.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 60000, PLACES = 1 << 20 };

static unsigned char *places;
static unsigned next_place, handled;

static void use(unsigned count)
{
    for (; count > 0; count--) {
        unsigned place = __atomic_fetch_add(&next_place, 1, __ATOMIC_SEQ_CST) % PLACES;
        __atomic_store_n(&places[place], 1, __ATOMIC_RELEASE);
    }
}

static void interrupt(int signo)
{
    (void)signo;
    use(30);
    __atomic_fetch_add(&handled, 1, __ATOMIC_SEQ_CST);
}

static void *work(void *argument)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    struct itimerspec often = {{0, 100000}, {0, 100000}};
    timer_t timer;
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &often, NULL) != 0)
        abort();
    for (int round = 0; round < ROUNDS; round++)
        use(1);
    timer_delete(timer);
    return argument;
}

int main(void)
{
    pthread_t ids[THREADS];
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    places = calloc(PLACES, 1);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    printf("handled %d, all %d\n", handled > 100, next_place >= THREADS * ROUNDS);
    return 0;
}
