/*
 * unwind_jump_table.c -- the time is spent behind an indirect jump, in a leaf that keeps everything in registers
 *
 * Truth: main > interpret. Some of it may be in main or case_is_over.
 */
#include "unwind_case.h"

CASE_FRAME unsigned interpret(const unsigned char *code, unsigned x)
{
    for (;; code++)
        switch (*code) {
        case 0: x += 3; break;
        case 1: x ^= x << 5; break;
        case 2: x = x * 7 + 1; break;
        case 3: x >>= 1; break;
        case 4: x = ~x; break;
        case 5: x -= 11; break;
        case 6: x |= 64; break;
        default: return x;
        }
}

int main(void)
{
    static unsigned char code[5000];
    unsigned x = 1;
    for (unsigned i = 0; i < sizeof code - 1; i++)
        code[i] = (unsigned char)((i * 2654435761u >> 13) % 7);
    code[sizeof code - 1] = 7;
    case_begin();
    while (!case_is_over())
        x = interpret(code, x);
    case_print();
    return x == 12345;
}
