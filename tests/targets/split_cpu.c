/* split_cpu.c -- truth: ten, twenty, thirty and forty use 10, 20, 30 and 40 % of the time; prints what each really used, in ns of CPU time
 *
 * split_cpu MILLISECONDS. The slices are short and each of another length, so that no sampling clock keeps step with them: with slices of one length, a turn of 3.19 ms
 * was 35 elevenths of a period of 1.003 ms, and samples fell near the same points of a turn.
 */
#include <stdlib.h>

#include "measured_work.h"

NOINLINE void ten(void) { work(about(310)); }
NOINLINE void twenty(void) { work(about(620)); }
NOINLINE void thirty(void) { work(about(930)); }
NOINLINE void forty(void) { work(about(1240)); }

int main(int argc, char **argv)
{
    struct account accounts[] = {{"ten", 0}, {"twenty", 0}, {"thirty", 0}, {"forty", 0}};
    int64_t end = thread_ns() + (argc > 1 ? atol(argv[1]) : 600) * 1000000;
    while (thread_ns() < end) {
        BOOK(accounts[0], ten());
        BOOK(accounts[1], twenty());
        BOOK(accounts[2], thirty());
        BOOK(accounts[3], forty());
    }
    for (int i = 0; i < 4; i++)
        print_account(&accounts[i]);
    printf("process %lld\n", (long long)process_ns());
    return 0;
}
