/*
 * unwind_recursion.c -- two thousand frames
 *
 * Truth: main > down*2000 > case_spin whenever case_spin runs.
 */
#include "unwind_case.h"

CASE_FRAME int down(int depth)
{
    volatile char locals[200];
    locals[depth % 200] = 1;
    if (depth == 1)
        while (!case_is_over())
            case_spin();
    else
        return down(depth - 1) + locals[depth % 200];
    return 0;
}

int main(void)
{
    case_begin();
    int sum = down(2000);
    case_print();
    return sum == 1;
}
