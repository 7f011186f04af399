/* paused_calls.c -- truth: all of recorded_work, half of which is the kernel's; none of paused_work, which is alike */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "libcollector.h"
#include "measured_work.h"

static char buffer[1 << 21];
static int zeros;

static inline __attribute__((always_inline)) void calls_and_work(void)
{
    for (int i = 0; i < 12; i++) {
        churned = churn((uint64_t)read(zeros, buffer, sizeof buffer), about(60000));
    }
}

NOINLINE static void recorded_work(void) { calls_and_work(); }
NOINLINE static void paused_work(void) { calls_and_work(); churned++; }

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 600;
    struct account recorded = {"recorded_work", 0}, paused = {"paused_work", 0};
    zeros = open("/dev/zero", O_RDONLY);
    for (int i = 0; i < rounds; i++) {
        collector_pause();
        BOOK(paused, paused_work());
        collector_resume();
        BOOK(recorded, recorded_work());
    }
    print_account(&recorded);
    print_account(&paused);
    return 0;
}
