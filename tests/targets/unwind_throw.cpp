/*
 * unwind_throw.cpp -- the time is spent in throwing and catching
 *
 * Truth: everything is below main > attempt. What throws is called from the tenth `down`; the runtime calls nothing
 * of ours but the destructor of Guard.
 */
#include "unwind_case.h"

struct Guard {
    CASE_FRAME ~Guard() { __asm__ volatile("" : : "r"(this) : "memory"); }
};

extern "C" CASE_FRAME int down(int depth)
{
    Guard guard;
    if (depth == 0)
        throw depth;
    return down(depth - 1) + 1;
}

extern "C" CASE_FRAME int attempt()
{
    try {
        return down(9);
    } catch (int thrown) {
        return thrown;
    }
}

int main()
{
    int sum = 0;
    case_begin();
    while (!case_is_over())
        sum += attempt();
    case_print();
    return sum;
}
