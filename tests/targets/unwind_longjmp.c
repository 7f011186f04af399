/*
 * unwind_longjmp.c -- control leaves through longjmp all the time
 *
 * Truth: main > again > down, at most six of it, > longjmp's functions; or main > again > setjmp's, or > case_spin.
 */
#include <setjmp.h>

#include "unwind_case.h"

static jmp_buf back;

static volatile int is_jumping = 1;

CASE_FRAME int down(int depth)
{
    if (depth == 0) {
        if (is_jumping)
            longjmp(back, 1);
        return 0;
    }
    int result = down(depth - 1);
    CASE_NO_TAIL_CALL;
    return result + 1;
}

CASE_FRAME void again(void)
{
    for (volatile int i = 0; i < 300; i++)
        if (setjmp(back) == 0)
            down(5);
    case_spin();
    CASE_NO_TAIL_CALL;
}

int main(void)
{
    case_begin();
    while (!case_is_over())
        again();
    case_print();
    return 0;
}
