/* symbols_pieces.c -- functions that gcc -O2 takes to pieces; its truth: split has a part, scaled and summed are
 * cloned for a constant argument, and checked has cold code. symbols_pieces_twin.c has a `checked` of its own. */
#include <stdlib.h>

volatile unsigned long sink;

void twin(unsigned long count);

__attribute__((noinline, cold)) void complain(unsigned long value)
{
    sink += value;
}

__attribute__((noinline)) void notice(unsigned long value)
{
    sink ^= value;
}

static unsigned long split(const unsigned long *from, unsigned long count)
{
    if (from == NULL || count == 0)
        return 0;
    unsigned long sum = 0;
    for (unsigned long i = 0; i < count; i++) {
        sum += i / (*from + 1) + sink;
        notice(sum);
        sum += i / (*from + 2) + sink;
        notice(sum);
        sum += i / (*from + 3) + sink;
        notice(sum);
        sum += i / (*from + 4) + sink;
        notice(sum);
        sum += i / (*from + 5) + sink;
        notice(sum);
        sum += i / (*from + 6) + sink;
        notice(sum);
    }
    return sum;
}

__attribute__((noinline)) unsigned long split_here(const unsigned long *from, unsigned long count)
{
    return split(from, count) + 1;
}

__attribute__((noinline)) unsigned long split_there(const unsigned long *from, unsigned long count)
{
    return split(from, count) * 3;
}

static __attribute__((noinline)) unsigned long scaled(unsigned long count, int scale)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < count; i++)
        sum += (i ^ sink) * (unsigned long)scale;
    return sum;
}

struct pair {
    unsigned long first, second;
};

static __attribute__((noinline)) unsigned long summed(const struct pair *pair, unsigned long count)
{
    unsigned long sum = 0;
    for (unsigned long i = 0; i < count; i++)
        sum += pair->first * i + sink;
    return sum;
}

static __attribute__((noinline)) void checked(unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        sink += i;
        if (__builtin_expect(sink > 1000, 0)) {
            complain(i);
            complain(sink);
            sink = i % 17;
        }
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    unsigned long count = (unsigned long)argc * 1000;
    struct pair pair = {count, 2};
    sink += scaled(count, 3) + summed(&pair, count) + split_here(&count, count) + split_there(&count, count);
    checked(count);
    twin(count);
    return 0;
}
