/* full_disk_phases.c -- truth: before_full works 200 ms, then the file named is written until the disk is full, full works 600 ms with ever new stacks, the file goes unless told to `stay`, after_full works 300 ms */
#include <stdlib.h>
#include <unistd.h>

#include "measured_work.h"

NOINLINE static void before_full(void) { work(200000); }

/* Stacks that differ each time fill the log faster. */
NOINLINE static int full(unsigned path, int depth)
{
    volatile int kept = depth;
    if (depth == 0)
        work(100);
    else if (path & 1)
        full(path >> 1, depth - 1);
    else
        full(path >> 1, depth - 1);
    return kept;
}

NOINLINE static void after_full(void) { work(300000); }

int main(int argc, char **argv)
{
    static char page[4096];
    struct account account = {"after_full", 0};
    if (argc < 2)
        return 2;
    before_full();
    FILE *file = fopen(argv[1], "w");
    if (file == NULL)
        return 3;
    setvbuf(file, NULL, _IONBF, 0);
    while (fwrite(page, sizeof page, 1, file) == 1)
        ;
    for (int i = 0; i < 6000; i++)
        full((unsigned)rand(), 24);
    fclose(file);
    if (argc == 2)
        unlink(argv[1]);
    BOOK(account, after_full());
    print_account(&account);
    return 0;
}
