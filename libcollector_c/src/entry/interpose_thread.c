/* interpose_thread.c -- threads begin and end under our eyes */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <threads.h>

#include "base/real.h"
#include "base/sparse.h"
#include "control/alternate_stack.h"
#include "control/silence.h"
#include "control/session.h"
#include "sample/plugin_call.h"
#include "sample/recording.h"
#include "target/thread.h"

/* What a new thread was to run. Given to it by way of a block that it gives back: malloc is the program's, which may count its calls. */
struct start {
    union {
        void *(*posix)(void *);
        int (*c11)(void *);
    } routine;
    void *argument;
    bool is_silent;  /* by its maker, see control/sandbox.h */
    bool is_plugins; /* likewise, see sample/plugin_call.h */
    bool is_taken;
};

#define MOST_STARTS 64 /* threads that are being made at a time; more than that take a block of malloc */
static struct start starts[MOST_STARTS] COL_SPARSE;

static bool is_own(const struct start *start)
{
    return start >= starts && start < starts + MOST_STARTS;
}

static struct start *take_start(void)
{
    for (struct start *start = starts; start < starts + MOST_STARTS; start++)
        if (!__atomic_test_and_set(&start->is_taken, __ATOMIC_ACQUIRE))
            return start;
    return malloc(sizeof(struct start));
}

static void give_back(struct start *start)
{
    if (is_own(start))
        __atomic_clear(&start->is_taken, __ATOMIC_RELEASE);
    else
        free(start);
}

static struct {
    pthread_once_t once;
    pthread_key_t key; /* its destructor runs however a thread ends: return, pthread_exit, cancellation */
    bool has_key;
} self = {.once = PTHREAD_ONCE_INIT};

/* The C library's, for compilers of C++. */
extern int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void end_thread(void *value)
{
    (void)value;
    col_session_thread_end();
    col_alternate_stack_end();
}

static void make_key(void)
{
    self.has_key = COL_REAL(pthread_key_create)(&self.key, end_thread) == 0;
}

/*
 * A program may want all the keys there are. The last one is ours: it gets it, and the ends of threads that begin from then on are seen where C++ destroys
 * thread-local objects, which is before the destructors of keys.
 */
static bool give_key_back(void)
{
    if (!self.has_key)
        return false;
    self.has_key = false;
    return pthread_key_delete(self.key) == 0;
}

COL_EXPORT int pthread_key_create(pthread_key_t *key, void (*destroy)(void *))
{
    int error = COL_REAL(pthread_key_create)(key, destroy);
    return error == EAGAIN && give_key_back() ? COL_REAL(pthread_key_create)(key, destroy) : error;
}

COL_EXPORT int tss_create(tss_t *key, tss_dtor_t destroy)
{
    return pthread_key_create(key, destroy) == 0 ? thrd_success : thrd_error;
}

static void begin_thread(uintptr_t routine, const struct start *start)
{
    col_silence_inherit(start->is_silent);
    col_plugin_call_inherit(start->is_plugins);
    col_thread_has_own_storage(); /* for those, too, that it makes by a bare clone and that share its own */
    if (!start->is_silent)
        col_alternate_stack_begin();
    col_session_thread_begin(routine);
    if (self.has_key)
        pthread_setspecific(self.key, &self);
    else if (&__cxa_thread_atexit_impl != NULL)
        __cxa_thread_atexit_impl(end_thread, NULL, &__dso_handle);
}

static void *run_posix(void *argument)
{
    struct start start = *(struct start *)argument;
    give_back(argument);
    begin_thread((uintptr_t)start.routine.posix, &start);
    return start.routine.posix(start.argument);
}

static int run_c11(void *argument)
{
    struct start start = *(struct start *)argument;
    give_back(argument);
    begin_thread((uintptr_t)start.routine.c11, &start);
    return start.routine.c11(start.argument);
}

/* NULL: no session, or no memory: the thread starts without us. */
static struct start *new_start(void *argument)
{
    col_entry_begin_early();
    bool is_silent = col_silence_is_on();
    if (!is_silent)
        col_session_adopt();
    if (!col_recording_is_open())
        return NULL;
    if (!is_silent)
        pthread_once(&self.once, make_key);
    struct start *start = take_start();
    if (start != NULL) {
        start->argument = argument;
        start->is_silent = is_silent;
        start->is_plugins = col_plugin_call_is_within();
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
        give_back(start);
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
        give_back(start);
    return result;
}
