/* deep_recursion.c -- truth: descend calls itself DEPTH times (default 2000) and all the time passes at the bottom, in `bottom` */
#include <stdlib.h>

#include "measured_work.h"

static long milliseconds;

NOINLINE void bottom(void)
{
    work(milliseconds * 1000);
}

NOINLINE int descend(int depth)
{
    volatile int kept = depth;
    if (depth > 1)
        descend(depth - 1);
    else
        bottom();
    return kept;
}

int main(int argc, char **argv)
{
    struct account account = {"bottom", 0};
    milliseconds = argc > 2 ? atol(argv[2]) : 200;
    BOOK(account, descend(argc > 1 ? atoi(argv[1]) : 2000));
    print_account(&account);
    return 0;
}
