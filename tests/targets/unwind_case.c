/* unwind_case.c -- what the unwind_* targets share: a timer that walks the stack, and its printed findings */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "unwind_case.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sample/unwind.h"
#include "target/code_finder.h"

enum { ENOUGH_SAMPLES = 150, MOST_FRAMES = 2200, PERIOD_NS = 1000000 };

static struct {
    struct sample {
        enum col_stack_end end;
        size_t count;
        uintptr_t pcs[MOST_FRAMES];
    } samples[ENOUGH_SAMPLES];
    _Atomic int sample_count;
    struct col_stack_bounds bounds;
    timer_t timer;
} self;

static void take_sample(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)info;
    int place = atomic_load(&self.sample_count);
    if (place == ENOUGH_SAMPLES)
        return;
    struct sample *sample = &self.samples[place];
    sample->count = col_unwind_walk(context, &self.bounds, sample->pcs, NULL, MOST_FRAMES, &sample->end);
    atomic_store(&self.sample_count, place + 1);
}

static uintptr_t end_of_own_stack(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    return (uintptr_t)low + size;
}

void case_begin(void)
{
    self.bounds.high = end_of_own_stack();
    col_code_finder_refresh();
    struct sigaction action = {.sa_sigaction = take_sample, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    if (timer_create(CLOCK_MONOTONIC, &event, &self.timer) != 0 || timer_settime(self.timer, 0, &period, NULL) != 0) {
        perror("timer");
        exit(2);
    }
}

int case_is_over(void)
{
    return atomic_load(&self.sample_count) == ENOUGH_SAMPLES;
}

CASE_FRAME void case_spin(void)
{
    for (volatile int i = 0; i < 2000; i++)
        ;
}

static const char *name_of(uintptr_t pc, char *name, size_t size)
{
    Dl_info info;
    if (!dladdr((void *)pc, &info) || !info.dli_fname)
        return "[anonymous]";
    if (info.dli_sname)
        return info.dli_sname;
    const char *base = strrchr(info.dli_fname, '/');
    snprintf(name, size, "[%s]", base ? base + 1 : info.dli_fname);
    return name;
}

static void print_sample(const struct sample *sample)
{
    char last[256] = "", buffer[256];
    int repeats = 0;
    printf("%d", (int)sample->end);
    for (size_t i = sample->count; i-- > 0;) {
        const char *name = name_of(sample->pcs[i] - (i > 0), buffer, sizeof buffer);
        if (strcmp(name, last) == 0) {
            repeats++;
            continue;
        }
        if (repeats > 1)
            printf("*%d", repeats);
        printf(" %s", name);
        snprintf(last, sizeof last, "%s", name);
        repeats = 1;
    }
    printf(repeats > 1 ? "*%d\n" : "\n", repeats);
}

void case_print(void)
{
    timer_delete(self.timer);
    for (int i = 0; i < atomic_load(&self.sample_count); i++)
        print_sample(&self.samples[i]);
}

/* The same by the names that Fortran compilers give. */
void case_begin_(void) { case_begin(); }
int case_is_over_(void) { return case_is_over(); }
void case_print_(void) { case_print(); }
