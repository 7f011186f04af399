/* leaving.c -- handlers that do not return: the thread or the process ends in them */
#include "matrix.h"

static void exits_thread(int signo)
{
    pthread_exit((void *)(intptr_t)signo);
}
static void exits_process(int signo)
{
    exit(signo);
}
static void *raises(void *signo)
{
    raise((int)(intptr_t)signo);
    return NULL;
}

static void say_result(void *(*routine)(void *), int signo)
{
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, routine, (void *)(intptr_t)signo);
    pthread_join(thread, &result);
    say("%ld", (long)(intptr_t)result);
}

CASE(thread_exits_in_handler, 1, "pthread_exit in handlers of SIGTRAP, SIGVTALRM, SIGUSR1 and real-time signals")
{
    const int signals[] = {SIGTRAP, SIGVTALRM, SIGUSR1, SIGRTMAX, SIGRTMAX - 2, SIGRTMIN};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        signal(signals[i], exits_thread);
        say_result(raises, signals[i]);
    }
    burn();
}

static void cancels(int signo)
{
    (void)signo;
    pthread_testcancel();
    say("not cancelled");
}
static void *is_cancelled(void *signo)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(before, NULL);
    return raises(signo);
}

CASE(cancelled_in_handler, 1, "a thread is cancelled in its handler of SIGTRAP, and of SIGVTALRM")
{
    signal(SIGTRAP, cancels);
    signal(SIGVTALRM, cancels);
    say_result(is_cancelled, SIGTRAP);
    say_result(is_cancelled, SIGVTALRM);
    burn();
}

CASE(exits_in_handler, 1, "exit in the handler of SIGVTALRM")
{
    signal(SIGVTALRM, exits_process);
    burn();
    raise(SIGVTALRM);
}

CASE(exits_at_breakpoint, 1, "exit in the handler of SIGTRAP, at an int3")
{
    signal(SIGTRAP, exits_process);
    burn();
    __asm__ volatile("int3");
}
