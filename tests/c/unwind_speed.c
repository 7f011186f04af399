/*
 * unwind_speed.c -- what a frame costs
 *
 * A signal handler walks one stack of 40 different small frames many times over. Prints nanoseconds a frame:
 * hot (all in the CPU's caches), cold (32 MB of other data touched before each walk), unknown (the rule of each frame
 * looked up in the unwind table anew), and what the compiler's own _Unwind_Backtrace needs hot.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unwind.h>

#include "sample/unwind.h"

enum { ROUNDS = 5, HOT_WALKS = 4000, COLD_WALKS = 200, OTHER_BYTES = 32 << 20, MOST_FRAMES = 2048 };

static struct {
    struct col_stack_bounds bounds;
    uintptr_t pcs[MOST_FRAMES];
    volatile char *other;
} self;

extern void *__libc_stack_end;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static size_t walk(void *context)
{
    enum col_stack_end end;
    size_t count = col_unwind_walk(context, &self.bounds, self.pcs, NULL, MOST_FRAMES, &end);
    if (end != COL_END_COMPLETE) {
        printf("incomplete: %d after %zu frames\n", (int)end, count);
        exit(1);
    }
    return count;
}

/* Only the walks are timed; what `prepare` does is not. */
static double measure(void *context, int walks, void (*prepare)(void))
{
    double spent_ns = 0;
    size_t frames = 0;
    for (int i = 0; i < walks; i++) {
        if (prepare)
            prepare();
        double begun_ns = now_ns();
        frames += walk(context);
        spent_ns += now_ns() - begun_ns;
    }
    return spent_ns / (double)frames;
}

/* Of several rounds the fastest: in the others something else may have had the processor. */
static double measure_hot(size_t (*walks)(void *context), void *context)
{
    double least_ns = 1e9;
    walks(context);
    for (int round = 0; round < ROUNDS; round++) {
        double begun_ns = now_ns();
        size_t frames = walks(context);
        double each_ns = (now_ns() - begun_ns) / (double)frames;
        least_ns = each_ns < least_ns ? each_ns : least_ns;
    }
    return least_ns;
}

static size_t walk_often(void *context)
{
    size_t frames = 0;
    for (int i = 0; i < HOT_WALKS; i++)
        frames += walk(context);
    return frames;
}

static void touch_other_memory(void)
{
    for (size_t i = 0; i < OTHER_BYTES; i += 64)
        self.other[i]++;
}

static _Unwind_Reason_Code count_frame(struct _Unwind_Context *context, void *count)
{
    (void)context;
    ++*(size_t *)count;
    return _URC_NO_REASON;
}

static size_t walk_as_compilers_do(void *context)
{
    size_t frames = 0;
    (void)context;
    for (int i = 0; i < HOT_WALKS / 10; i++)
        _Unwind_Backtrace(count_frame, &frames);
    return frames;
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)info;
    double unknown = measure(context, COLD_WALKS, col_unwind_forget_modules);
    double cold = measure(context, COLD_WALKS, touch_other_memory);
    double hot = measure_hot(walk_often, context);
    printf("frames %zu hot %.1f cold %.1f unknown %.1f libgcc %.1f ns/frame\n", walk(context), hot, cold, unknown,
           measure_hot(walk_as_compilers_do, context));
}

/* Forty functions, each calling the next, with locals of different size. */
#define FRAME(n, next)                                                     \
    __attribute__((noinline)) static int frame_##n(int x)                  \
    {                                                                      \
        char locals[16 + (n % 4) * 24];                                    \
        memset(locals, x, sizeof locals);                                  \
        int result = next(x + locals[n % 16]);                             \
        __asm__ volatile("" : : "r"(locals) : "memory");                   \
        return result + x;                                                 \
    }
#define FRAMES10(t, next)                                                                                     \
    FRAME(t##9, next) FRAME(t##8, frame_##t##9) FRAME(t##7, frame_##t##8) FRAME(t##6, frame_##t##7)           \
    FRAME(t##5, frame_##t##6) FRAME(t##4, frame_##t##5) FRAME(t##3, frame_##t##4) FRAME(t##2, frame_##t##3)   \
    FRAME(t##1, frame_##t##2) FRAME(t##0, frame_##t##1)

static int interrupt(int x)
{
    raise(SIGUSR1);
    return x;
}

FRAMES10(4, interrupt)
FRAMES10(3, frame_40)
FRAMES10(2, frame_30)
FRAMES10(1, frame_20)

int main(void)
{
    self.other = calloc(1, OTHER_BYTES);
    self.bounds.high = (uintptr_t)__libc_stack_end;
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR1, &action, NULL);
    return frame_10(0);
}
