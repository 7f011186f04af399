/* kernel_share.c -- truth: computes (user time), reads, draws and touches (system time: /dev/zero, getrandom, page faults); prints what each used
 *
 * kernel_share MILLISECONDS CASE...; each case named gets the same time, in turns of a few milliseconds. The clocks are read only between turns: reading a thread's
 * CPU clock makes the kernel end a time slice that is over, so that a program that does so often has none of the ticks that end them.
 * Prints `NAME nanoseconds` and `NAME.system nanoseconds`, the second by getrusage.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "measured_work.h"

static char buffer[1 << 16];
static int zero;

NOINLINE void computes(void) { churned = churn(churned, 2500000); }

NOINLINE void reads(void)
{
    for (int i = 0; i < 500; i++)
        if (read(zero, buffer, sizeof buffer) < 0)
            abort();
}

NOINLINE void draws(void)
{
    for (int i = 0; i < 40; i++)
        if (getrandom(buffer, 8192, 0) < 0)
            abort();
}

NOINLINE void touches(void)
{
    enum { BYTES = 4 << 20 };
    char *pages = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, BYTES, MADV_NOHUGEPAGE);
    for (int i = 0; i < BYTES; i += 4096)
        pages[i] = 1;
    munmap(pages, BYTES);
    __asm__ volatile(""); /* a call, not a jump */
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {{"computes", computes}, {"reads", reads}, {"draws", draws}, {"touches", touches}};

static int64_t system_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_stime.tv_sec * 1000000000ll + usage.ru_stime.tv_usec * 1000ll;
}

/* About 7 ms: as often as took so long when it was tried, the first time that it is this case's turn. */
static void take_turn(int k)
{
    static int runs[sizeof cases / sizeof *cases];
    int64_t end = thread_ns() + 7000000;
    if (runs[k] == 0)
        do {
            cases[k].run();
            runs[k]++;
        } while (thread_ns() < end);
    else
        for (int i = 0; i < runs[k]; i++)
            cases[k].run();
}

int main(int argc, char **argv)
{
    struct account accounts[4] = {{NULL, 0}}, systems[4] = {{NULL, 0}};
    int64_t limit_ns = (argc > 1 ? atol(argv[1]) : 300) * 1000000;
    zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    for (int64_t end = thread_ns() + limit_ns * (argc - 2); thread_ns() < end;)
        for (int i = 2; i < argc; i++)
            for (int k = 0; k < 4; k++) {
                if (strcmp(argv[i], cases[k].name) != 0)
                    continue;
                int64_t before = system_ns();
                accounts[k].name = cases[k].name;
                BOOK(accounts[k], take_turn(k));
                systems[k].ns += system_ns() - before;
            }
    for (int k = 0; k < 4; k++)
        if (accounts[k].name != NULL)
            printf("%s %lld\n%s.system %lld\n", cases[k].name, (long long)accounts[k].ns, cases[k].name, (long long)systems[k].ns);
    return 0;
}
