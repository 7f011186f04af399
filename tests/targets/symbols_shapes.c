/* symbols_shapes.c -- functions of every shape a C compiler makes; its truth: `main` calls
 * outer_loop -> middle_step -> leaf_sum; the abort in middle_step is never reached and moves away;
 * picked() is an IFUNC whose resolver is pick_implementation; twin_name and its alias
 * __twin_name share an address. */
#include <stdio.h>
#include <stdlib.h>

volatile int sink;

static inline __attribute__((always_inline)) int inlined_square(int value)
{
    return value * value + sink;
}

__attribute__((noinline)) int leaf_sum(int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += inlined_square(i) ^ sink;
    return sum;
}

static __attribute__((noinline)) int middle_step(int count)
{
    int sum = leaf_sum(count);
    if (__builtin_expect(sum == 12345, 0)) {
        fprintf(stderr, "never %d\n", sum);
        abort();
    }
    sink += sum;
    return sum + 1;
}

__attribute__((noinline)) int outer_loop(int count)
{
    int sum = 0;
    while (count-- > 0)
        sum += middle_step(count) + 1;
    return sum;
}

__attribute__((noinline)) int __twin_name(int value)
{
    sink = value;
    return value + sink;
}
int twin_name(int value) __attribute__((alias("__twin_name")));

static int implementation(int value) { return value + 7 + sink; }

static int (*pick_implementation(void))(int) { return implementation; }
int picked(int value) __attribute__((ifunc("pick_implementation")));

int main(int argc, char **argv)
{
    (void)argv;
    printf("%d %d %d\n", outer_loop(argc + 5), twin_name(argc), picked(argc));
    return 0;
}
