/* experiment_speed.c -- prints what a sample costs: ns per add, ns per flush, bytes in the log */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "experiment/log_writer.h"
#include "experiment/open_frame.h"

enum { DEPTH = 25, FRAME_SAMPLES = 1000, PERIOD_NS = 1003000 };

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

/* Call sites as in a big program: 16 bytes or so apart, spread over some megabytes. */
static uintptr_t call_site(void)
{
    return 0x555555560000u + random_below(400000) * 16u + random_below(16);
}

typedef void change_function(uintptr_t *pcs, unsigned sample);

static void change_leaf(uintptr_t *pcs, unsigned sample)
{
    pcs[0] = 0x555555590000u + (sample * 7 % 40) * 4u;
}

static void change_half(uintptr_t *pcs, unsigned sample)
{
    (void)sample;
    for (unsigned i = 0; i < 13; i++)
        pcs[i] = call_site();
}

/* Half of the frames change, but among a few hundred places: what a compiler or an interpreter looks like. */
static void change_known(uintptr_t *pcs, unsigned sample)
{
    (void)sample;
    static uintptr_t children[256][4];
    if (children[0][0] == 0)
        for (unsigned i = 0; i < 256 * 4; i++)
            children[i / 4][i % 4] = call_site();
    uintptr_t parent = pcs[13];
    for (unsigned i = 13; i-- > 0; parent = pcs[i])
        pcs[i] = children[parent % 251][random_below(8) == 0 ? random_below(4) : 0];
}

static void measure(const char *name, change_function *change)
{
    static struct col_open_frame frame;
    uintptr_t pcs[DEPTH];
    uint64_t time_ns = col_clock_now(), frames_before, bytes_before, frames, bytes, add_ns = 0, flush_ns = 0;
    unsigned rounds = 200, sample = 0;
    for (unsigned i = 0; i < DEPTH; i++)
        pcs[i] = call_site();
    col_open_frame_prepare(&frame, calloc(1, col_open_frame_private_bytes()));
    if (col_open_frame_acquire(&frame, 1, 1, 2, time_ns) != 0)
        exit(1);
    col_log_writer_counts(&frames_before, &bytes_before);
    for (unsigned round = 0; round < rounds; round++) {
        uintptr_t stacks[FRAME_SAMPLES - 100][DEPTH];
        uint64_t times[FRAME_SAMPLES - 100];
        for (unsigned i = 0; i < FRAME_SAMPLES - 100; i++) {
            change(pcs, sample++);
            times[i] = time_ns += PERIOD_NS - 200000 + random_below(60000);
            for (unsigned k = 0; k < DEPTH; k++)
                stacks[i][k] = pcs[k];
        }
        uint64_t begin = col_clock_now();
        for (unsigned i = 0; i < FRAME_SAMPLES - 100; i++)
            if (col_open_frame_add(&frame, times[i], (uint64_t[]){1000 + i % 7, 0}, stacks[i], DEPTH, 0) != 0)
                exit(1);
        uint64_t middle = col_clock_now();
        col_open_frame_flush(&frame);
        add_ns += middle - begin;
        flush_ns += col_clock_now() - middle;
    }
    col_log_writer_counts(&frames, &bytes);
    double samples = rounds * (FRAME_SAMPLES - 100.0);
    printf("%-32s %6.1f ns an add, %5.1f ns of the flush, %5.2f bytes in the log, %lu frames\n", name, (double)add_ns / samples, (double)flush_ns / samples,
        (double)(bytes - bytes_before) / samples, (unsigned long)(frames - frames_before));
    col_open_frame_release(&frame);
}

int main(int count, char **arguments)
{
    unsigned image;
    if (count != 2 || col_log_writer_open(arguments[1], getpid(), &image) != 0)
        return 1;
    measure("same stack, other leaf", change_leaf);
    measure("25 deep, 13 frames new", change_half);
    measure("25 deep, 13 of known places", change_known);
    col_log_writer_close();
    return 0;
}
