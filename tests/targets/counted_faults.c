/* counted_faults.c -- truth: page faults and voluntary context switches of three functions, as the kernel counts them for the thread
 *
 * counted_faults ROUNDS. One touches many new pages, one a quarter as many, one gives the processor away, and one does neither. Each has the processor for
 * 40 ms and more at a time: many ticks, of which only the last may find what the one before it counted.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "measured_work.h"

enum { PAGES = 4000, PAGE_BYTES = 4096, TURNS = 10 };

static void touch(int pages)
{
    char *memory = mmap(NULL, (size_t)PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, (size_t)PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
    for (int page = 0; page < pages; page++)
        ((volatile char *)memory)[(size_t)page * PAGE_BYTES] = 1;
    munmap(memory, (size_t)PAGES * PAGE_BYTES);
}

NOINLINE void touches_many(void) { touch(PAGES); work(about(3000)); }
NOINLINE void touches_few(void) { touch(PAGES / 4); work(about(3000)); }

NOINLINE void gives_way(void)
{
    for (int i = 0; i < 40; i++) {
        nanosleep(&(struct timespec){0, 1000}, NULL);
        work(about(100));
    }
}

NOINLINE void computes(void) { work(about(5000)); }

static struct rusage usage(void)
{
    struct rusage now;
    getrusage(RUSAGE_THREAD, &now);
    return now;
}

int main(int argc, char **argv)
{
    void (*const parts[])(void) = {touches_many, touches_few, gives_way, computes};
    const char *const names[] = {"touches_many", "touches_few", "gives_way", "computes"};
    long faults[4] = {0}, switches[4] = {0}, rounds = argc > 1 ? atol(argv[1]) : 2;
    for (long round = 0; round < rounds; round++)
        for (int i = 0; i < 4; i++) {
            struct rusage before = usage();
            for (int turn = 0; turn < TURNS; turn++)
                parts[i]();
            struct rusage after = usage();
            faults[i] += after.ru_minflt - before.ru_minflt;
            switches[i] += after.ru_nvcsw - before.ru_nvcsw;
        }
    for (int i = 0; i < 4; i++)
        printf("%s.faults %ld\n%s.switches %ld\n", names[i], faults[i], names[i], switches[i]);
    return 0;
}
