/* varied_stacks.c -- recurses along ever new ways for so many ms of CPU time, so that no two stacks are alike; prints "done" */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile int sum;

__attribute__((noinline)) static int descend(int depth, unsigned way)
{
    if (depth == 0) {
        for (int i = 0; i < 2000; i++)
            sum += i;
        return 0;
    }
    return (way >> (depth % 31)) & 1 ? descend(depth - 1, way) + 1 : descend(depth - 1, way * 3) + 2;
}

int main(int argc, char **argv)
{
    clock_t end = clock() + (argc > 1 ? atol(argv[1]) : 100) * CLOCKS_PER_SEC / 1000;
    for (unsigned turn = 0; clock() < end; turn++)
        sum += descend(40 + (int)(turn % 200), turn * 2654435761u);
    puts("done");
    return 0;
}
