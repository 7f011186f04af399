/* soak.c -- does everything that makes and gives back things, again and again, and prints what it holds meanwhile
 *
 * soak MILLISECONDS LIBRARY TEMPORARY [FILLER]
 *
 * Turns of threads (that return, exit, are cancelled), a library that is loaded and unloaded, and code that is made at run
 * time; every eighth turn also children, of which one is killed, and every descriptor that one may have. With FILLER the disk
 * is full for half of the time, in periods of a second. TEMPORARY is a directory whose files are counted, beside those of
 * /dev/shm. A line `sizes ...` now and then; at the end how often each thing was done. What is not as it must be is told and
 * ends the program with status 1.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "libcollector.h"
#include "made_code.h"
#include "made_frames.h"
#include "measured_work.h"
#include "sizes.h"

void __register_frame(const void *frames);
void __deregister_frame(const void *frames);

enum { SAMPLES = 90, DESCRIPTORS = 48, TURN_US = 20000 };

static struct {
    const char *library;
    const char *filler;
    char *code;
    long turns, threads, children, killed;
} self;

static void must(int is_so, const char *what)
{
    if (is_so)
        return;
    printf("not as it must be: %s, errno %d\n", what, errno);
    exit(1);
}

static long now_ms(void) { return (long)(ns_of(CLOCK_MONOTONIC) / 1000000); }

/* threads */

static void *returns(void *result)
{
    work(1000);
    return result;
}

static void *exits(void *result)
{
    work(1000);
    pthread_exit(result);
}

static void *is_cancelled(void *type)
{
    int old;
    pthread_setcanceltype(type != NULL ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED, &old);
    for (uint64_t x = 1;; pthread_testcancel())
        churned = x = churn(x, 20000);
    return NULL;
}

NOINLINE static void run_threads(void)
{
    static int something;
    static void *(*const bodies[])(void *) = {returns, exits, is_cancelled, is_cancelled};
    pthread_t threads[4];
    void *result, *argument[] = {&something, &something, NULL, &something};
    for (int i = 0; i < 4; i++)
        must((errno = pthread_create(&threads[i], NULL, bodies[i], argument[i])) == 0, "a thread is made");
    work(1000); /* the cancelled ones are anywhere by now: not born yet, in their loop, in a sample */
    pthread_cancel(threads[2]);
    pthread_cancel(threads[3]);
    for (int i = 0; i < 4; i++) {
        must((errno = pthread_join(threads[i], &result)) == 0, "a thread is joined");
        must(result == (i < 2 ? &something : PTHREAD_CANCELED), "a thread has its result");
    }
    self.threads += 4;
}

/* children */

static void expect_end(pid_t child, int expected)
{
    int status = -1;
    must(waitpid(child, &status, 0) == child && status == expected, "a child ended as it should");
    self.children++;
}

NOINLINE static void run_child(void)
{
    pid_t child = fork();
    must(child >= 0, "a child is made");
    if (child == 0) {
        work(1000);
        _exit(3);
    }
    expect_end(child, 3 << 8);
}

NOINLINE static void kill_child(void)
{
    int ends[2];
    char byte;
    must(pipe(ends) == 0, "a pipe is made");
    pid_t child = fork();
    must(child >= 0, "a child is made");
    if (child == 0) {
        must(write(ends[1], "", 1) == 1, "a byte is written");
        for (;;)
            work(1000);
    }
    must(read(ends[0], &byte, 1) == 1, "the child tells that it runs");
    close(ends[0]);
    close(ends[1]);
    work(1000);
    must(kill(child, SIGKILL) == 0, "a child is killed");
    expect_end(child, SIGKILL);
    self.killed++;
}

/* code */

NOINLINE static void load_library(void)
{
    void *library = dlopen(self.library, RTLD_NOW);
    must(library != NULL, "the library is loaded");
    int (*work_there)(int) = (int (*)(int))(uintptr_t)dlsym(library, "soaked_work");
    must(work_there(1000) == 1000, "the library works");
    must(dlclose(library) == 0, "the library is unloaded");
}

NOINLINE static void run_made_code(void)
{
    unsigned char *frames = (unsigned char *)self.code + 2048;
    int bytes = make_function(self.code, 1 + (int)(self.turns % 3));
    make_frames(frames, self.code, (uint64_t)bytes);
    __register_frame(frames);
    collector_func_load("made", NULL, NULL, self.code, bytes, 0, NULL);
    run_code(self.code, 1);
    collector_func_unload(self.code);
    __deregister_frame(frames);
}

/* limits */

NOINLINE static void use_all_descriptors(void)
{
    struct rlimit before, few;
    int taken[DESCRIPTORS], count = 0;
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = DESCRIPTORS;
    must(setrlimit(RLIMIT_NOFILE, &few) == 0, "descriptors are limited");
    while (count < DESCRIPTORS && (taken[count] = dup(1)) >= 0)
        count++;
    must(count < DESCRIPTORS && errno == EMFILE, "descriptors come to an end");
    must(dlopen(self.library, RTLD_NOW) == NULL, "no library is loaded without a descriptor");
    run_threads();
    run_child();
    while (count > 0)
        close(taken[--count]);
    setrlimit(RLIMIT_NOFILE, &before);
}

/* The disk is full in every other half second. */
static void fill_or_empty_the_disk(void)
{
    static char page[4096];
    if (now_ms() / 500 % 2 == 0) {
        unlink(self.filler);
        return;
    }
    int file = open(self.filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    while (file >= 0 && write(file, page, sizeof page) == sizeof page)
        ;
    close(file);
}

static void take_a_turn(void)
{
    self.turns++;
    if (self.filler != NULL)
        fill_or_empty_the_disk();
    run_threads();
    load_library();
    run_made_code();
    if (self.turns % 8 != 0)
        return;
    run_child();
    kill_child();
    use_all_descriptors();
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    long begun = now_ms(), end = begun + atol(argv[1]), next = begun, every = atol(argv[1]) / SAMPLES;
    self.library = argv[2];
    self.filler = argc > 4 ? argv[4] : NULL;
    self.code = make_room(4096);
    while (now_ms() < end) {
        take_a_turn();
        if (now_ms() >= next) {
            print_sizes(now_ms() - begun, argv[3]);
            next += every;
        }
        usleep(TURN_US);
    }
    if (self.filler != NULL)
        unlink(self.filler);
    printf("turns %ld\nthreads %ld\nchildren %ld\nkilled %ld\nprocess %lld\n", self.turns, self.threads, self.children, self.killed, (long long)process_ns());
    return 0;
}
