/* tight_loop.c -- computes for so many million turns: nothing but the CPU, one function */
#include <stdlib.h>

int main(int count, char **arguments)
{
    unsigned long turns = (count > 1 ? strtoul(arguments[1], NULL, 10) : 1000) * 1000000, x = 1;
    for (unsigned long i = 0; i < turns; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    return x == 0;
}
