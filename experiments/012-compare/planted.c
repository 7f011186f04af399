/* planted -- five functions of a fifth of the time each; `planted SECONDS PERCENT` gives the second one so many per cent more to do */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const double steps_a_second = 9e8;

#define FUNCTION(name, factor)                                                       \
    static __attribute__((noinline, noclone)) uint64_t name(uint64_t state, uint64_t steps) \
    {                                                                                \
        for (uint64_t i = 0; i < steps; i++) {                                       \
            state = state * factor + 1442695040888963407u;                           \
            __asm__ volatile("" : "+r"(state));                                      \
        }                                                                            \
        return state;                                                                \
    }
FUNCTION(first, 6364136223846793005u)
FUNCTION(second, 2862933555777941757u)
FUNCTION(third, 3935559000370003845u)
FUNCTION(fourth, 3202034522624059733u)
FUNCTION(fifth, 4768777513237032717u)

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1, more = argc > 2 ? atof(argv[2]) : 0;
    uint64_t steps = 1000000, state = 1;
    long rounds = (long)(seconds * steps_a_second / (5.0 * (double)steps));
    for (long round = 0; round < rounds; round++) {
        state = first(state, steps);
        state = second(state, (uint64_t)((double)steps * (1 + more / 100)));
        state = third(state, steps);
        state = fourth(state, steps);
        state = fifth(state, steps);
    }
    printf("%llu\n", (unsigned long long)state);
    return 0;
}
