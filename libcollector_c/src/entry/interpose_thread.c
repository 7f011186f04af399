/* interpose_thread.c -- threads begin and end under our eyes */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <threads.h>

#include "base/real.h"
#include "control/session.h"
#include "control/signals.h"

/* What a new thread was to run. Given to it by way of a block that it frees. */
struct start {
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
    } routine;
    void *argument;
    unsigned blocked;
};

static struct {
    pthread_once_t once;
    pthread_key_t key; /* its destructor runs however a thread ends: return, pthread_exit, cancellation */
    bool has_key;
} self = {.once = PTHREAD_ONCE_INIT};

static void end_thread(void *value)
{
    (void)value;
    col_session_thread_end();
}

static void make_key(void)
{
    self.has_key = pthread_key_create(&self.key, end_thread) == 0;
}

static void begin_thread(const struct start *start, uintptr_t routine)
{
    col_signals_inherit(start->blocked);
    col_session_thread_begin(routine);
    if (self.has_key)
        pthread_setspecific(self.key, &self);
}

static void *run_posix(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    begin_thread(&start, (uintptr_t)start.routine.posix);
    return start.routine.posix(start.argument);
}

static int run_c11(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    begin_thread(&start, (uintptr_t)start.routine.c11);
    return start.routine.c11(start.argument);
}

/* NULL: no session, or no memory: the thread starts without us. */
static struct start *new_start(void *argument)
{
    if (!col_session_is_open())
        return NULL;
    pthread_once(&self.once, make_key);
    struct start *start = malloc(sizeof *start);
    if (start != NULL) {
        start->argument = argument;
        start->blocked = col_signals_virtual_blocked();
    }
    return start;
}

COL_EXPORT int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
                              void *(*routine)(void *), void *restrict argument)
{
    struct start *start = new_start(argument);
    if (start == NULL)
        return COL_REAL(pthread_create)(thread, attributes, routine, argument);
    start->routine.posix = routine;
    int error = COL_REAL(pthread_create)(thread, attributes, run_posix, start);
    if (error != 0)
        free(start);
    return error;
}

COL_EXPORT int thrd_create(thrd_t *thread, thrd_start_t routine, void *argument)
{
    struct start *start = new_start(argument);
    if (start == NULL)
        return COL_REAL(thrd_create)(thread, routine, argument);
    start->routine.c11 = routine;
    int result = COL_REAL(thrd_create)(thread, run_c11, start);
    if (result != thrd_success)
        free(start);
    return result;
}
