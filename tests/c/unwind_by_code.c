/*
 * unwind_by_code.c -- preloaded: holds what following the code says of callers against the unwind tables
 *
 * At each tick every frame that the tables lead through is also left by its instructions, as if it had no table. Frames that need a frame pointer
 * are passed over: a walk does not tell it. Prints to the file UNWIND_BY_CODE_REPORT: frames, right ones, wrong ones; of those by their entry
 * right ones, wrong ones.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sample/unwind.h"
#include "sample/unwind_code.h"
#include "target/code_finder.h"

enum { MOST_FRAMES = 512, PERIOD_NS = 1000000 };

extern void *__libc_stack_end;

static struct {
    struct col_stack_bounds bounds;
    uintptr_t pcs[MOST_FRAMES], sps[MOST_FRAMES];
    long frames, right, wrong, entry_right, entry_wrong;
    timer_t timer;
} self;

typedef bool way(const struct col_regs *, struct col_stack_reader *, struct col_proved_pages *, unsigned *, struct col_code_exit *);

static void judge(size_t frame, way *find, long *right, long *wrong)
{
    struct col_stack_reader reader;
    struct col_proved_pages proved = {.memory = NULL};
    struct col_code_exit exit;
    unsigned budget = COL_CODE_BUDGET;
    struct col_regs regs = {.pc = self.pcs[frame], .sp = self.sps[frame]};
    col_safe_read_begin(&reader, &self.bounds, regs.sp);
    if (!find(&regs, &reader, &proved, &budget, &exit) || !col_unwind_code_leave(&regs, &reader, &exit))
        return;
    bool is_right = regs.pc == self.pcs[frame + 1] && regs.sp == self.sps[frame + 1];
    *(is_right ? right : wrong) += 1;
}

static void tick(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number, (void)info;
    enum col_stack_end end;
    size_t count = col_unwind_walk(context, &self.bounds, self.pcs, self.sps, MOST_FRAMES, &end);
    if (end != COL_END_COMPLETE)
        return;
    for (size_t i = 0; i + 1 < count; i++, self.frames++) {
        judge(i, col_unwind_code_find_exit, &self.right, &self.wrong);
        judge(i, col_unwind_code_find_entry, &self.entry_right, &self.entry_wrong);
    }
}

__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    self.bounds.high = (uintptr_t)__libc_stack_end;
    col_code_finder_refresh();
    sigfillset(&action.sa_mask);
    sigaction(SIGPROF, &action, NULL);
    timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &self.timer);
    timer_settime(self.timer, 0, &period, NULL);
}

__attribute__((destructor)) static void report(void)
{
    timer_delete(self.timer);
    FILE *file = fopen(getenv("UNWIND_BY_CODE_REPORT"), "w");
    if (!file)
        return;
    fprintf(file, "%ld %ld %ld %ld %ld\n", self.frames, self.right, self.wrong, self.entry_right, self.entry_wrong);
    fclose(file);
}
