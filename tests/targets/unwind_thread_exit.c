/*
 * unwind_thread_exit.c -- the time is spent inside pthread_exit, in what a thread left to clean up
 *
 * Truth: the stack has been unwound as far as the function that pushed the clean-up, so: thread_main > cleanup >
 * case_spin, on a stack that is rooted in the thread's start. `leaving` ends in a call that never comes back, and
 * not_called is not called.
 */
#include <pthread.h>

#include "unwind_case.h"

CASE_FRAME void cleanup(void *unused)
{
    (void)unused;
    while (!case_is_over())
        case_spin();
}

CASE_FRAME void leaving(void)
{
    pthread_exit(NULL);
}

CASE_FRAME void not_called(void)
{
    case_spin();
}

CASE_FRAME void *thread_main(void *unused)
{
    (void)unused;
    case_begin();
    pthread_cleanup_push(cleanup, NULL);
    leaving();
    pthread_cleanup_pop(0);
    not_called();
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_main, NULL);
    pthread_join(thread, NULL);
    case_print();
    return 0;
}
