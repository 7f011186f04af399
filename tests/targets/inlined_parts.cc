/* inlined_parts.cc -- calls that the compiler inlines, two and three deep, and one that it does not; argv[1] is a number of milliseconds of CPU time */
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <vector>

static long spent_ms() { return (long)(clock() * 1000.0 / CLOCKS_PER_SEC); }

static inline unsigned mixed(unsigned value) { return (value ^ (value >> 15)) * 2246822519u; }

static inline unsigned mixed_twice(unsigned value) { return mixed(mixed(value) + 1); }

__attribute__((noinline)) static unsigned fill(std::vector<unsigned> &numbers, unsigned seed)
{
    for (unsigned &number : numbers)
        number = seed = mixed_twice(seed);
    return seed;
}

int main(int argc, char **argv)
{
    long limit_ms = argc > 1 ? atol(argv[1]) : 100;
    std::vector<unsigned> numbers(20000);
    unsigned seed = 1;
    while (spent_ms() < limit_ms) {
        seed = fill(numbers, seed);
        std::sort(numbers.begin(), numbers.end());
    }
    return numbers[0] == seed;
}
