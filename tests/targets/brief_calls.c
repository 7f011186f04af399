/* brief_calls.c -- truth: computes, about 200 us at a time, and in between reads, about 60 us of system calls of some microseconds each
 *
 * brief_calls MILLISECONDS
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "measured_work.h"

static char buffer[200000];
static int zero;

NOINLINE static void computes(void) { churned = churn(churned, about(160000)); }

NOINLINE static void reads(void)
{
    int64_t end = thread_ns() + 60000;
    while (thread_ns() < end)
        if (read(zero, buffer, sizeof buffer) < 0)
            abort();
}

int main(int argc, char **argv)
{
    struct account computing = {"computes", 0}, reading = {"reads", 0};
    int64_t end = thread_ns() + (argc > 1 ? atol(argv[1]) : 1000) * 1000000;
    zero = open("/dev/zero", O_RDONLY);
    while (thread_ns() < end) {
        BOOK(computing, computes());
        BOOK(reading, reads());
    }
    print_account(&computing);
    print_account(&reading);
    return 0;
}
