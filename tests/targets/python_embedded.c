/* python_embedded.c -- truth: CPU time of Python functions in a program that has libpython: its own C calls them, from two threads
 *
 *     python_embedded MILLISECONDS [LIBPYTHON]
 *
 * With a library's path it is loaded when main already runs, and nothing was linked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void (*initialize)(int);
static int (*finalize)(void);
static int (*run_string)(const char *, void *);
static int (*ensure)(void);
static void (*release)(int);
static void *(*save_thread)(void);
static void (*restore_thread)(void *);
static long limit_ms;

static long long thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) static void c_alone(void)
{
    long long begun = thread_ns();
    volatile unsigned long number = 0;
    while (thread_ns() - begun < limit_ms * 1000000LL)
        for (int turn = 0; turn < 100000; turn++)
            number = number * 31 + 7;
    printf("c_alone %lld\n", thread_ns() - begun);
}

__attribute__((noinline)) static void calls_python(const char *name)
{
    char code[1024];
    snprintf(code, sizeof code,
             "import time\n"
             "def %s(limit_ns):\n"
             "    begun = now = time.thread_time_ns()\n"
             "    while now - begun < limit_ns:\n"
             "        for number in range(20000):\n"
             "            number * number %% 7\n"
             "        now = time.thread_time_ns()\n"
             "    return now - begun\n"
             "print('%s', %s(%ld * 1000000), flush=True)\n",
             name, name, name, limit_ms);
    if (run_string(code, NULL) != 0)
        exit(1);
}

static void *second_thread(void *unused)
{
    int state = ensure();
    calls_python("in_a_c_thread");
    release(state);
    return unused;
}

static void find(void *library)
{
    *(void **)&initialize = dlsym(library, "Py_InitializeEx");
    *(void **)&finalize = dlsym(library, "Py_FinalizeEx");
    *(void **)&run_string = dlsym(library, "PyRun_SimpleStringFlags");
    *(void **)&ensure = dlsym(library, "PyGILState_Ensure");
    *(void **)&release = dlsym(library, "PyGILState_Release");
    *(void **)&save_thread = dlsym(library, "PyEval_SaveThread");
    *(void **)&restore_thread = dlsym(library, "PyEval_RestoreThread");
}

int main(int count, char **words)
{
    limit_ms = count > 1 ? atol(words[1]) : 100;
    c_alone();
    void *library = count > 2 ? dlopen(words[2], RTLD_NOW | RTLD_GLOBAL) : dlopen(NULL, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    find(library);
    fflush(stdout);
    for (int turn = 0; turn < 2; turn++) {
        initialize(0);
        calls_python(turn ? "begun_anew" : "in_main");
        pthread_t thread;
        void *state = save_thread();
        if (!turn) {
            pthread_create(&thread, NULL, second_thread, NULL);
            pthread_join(thread, NULL);
        }
        restore_thread(state);
        if (finalize() != 0)
            return 1;
    }
    return 0;
}
