/* marked_phases.c -- truth: the sample points it prints, in that order; all of recorded_work is seen, none of paused_work and of unrecorded_work
 *
 * C and C++ in one text. Starts in a constructor, ends after termination, where it still runs and prints.
 * Pause and resume are called twice in a row, which changes nothing.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdlib.h>

#include "libcollector.h"
#include "measured_work.h"

NOINLINE static void recorded_work(void) { work(2300); }
NOINLINE static void paused_work(void) { work(2300); }
NOINLINE static void unrecorded_work(void) { work(2300); }

static void mark(const char *label)
{
    printf("mark %s\n", label);
    collector_sample(label);
}

static void on_signal(int signo)
{
    (void)signo;
    collector_sample("in a handler");
}

__attribute__((constructor)) static void before_main(void)
{
    mark("before main");
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 40;
    struct account recorded = {"recorded_work", 0}, paused = {"paused_work", 0};
    collector_resume();
    mark("begin");
    for (int i = 0; i < rounds; i++) {
        collector_pause();
        collector_pause();
        BOOK(paused, paused_work());
        if (i == 20)
            mark("while paused");
        collector_resume();
        collector_resume();
        BOOK(recorded, recorded_work());
    }
    signal(SIGUSR1, on_signal);
    printf("mark in a handler\n");
    raise(SIGUSR1);
    mark("sch\303\266n, \"quoted\"\tand tabbed");
    mark("");
    collector_terminate_expt();
    collector_terminate_expt();
    collector_resume();
    collector_sample("never");
    for (int i = 0; i < 40; i++)
        unrecorded_work();
    print_account(&recorded);
    print_account(&paused);
    return 3;
}
