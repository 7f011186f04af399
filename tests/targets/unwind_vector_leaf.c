/*
 * unwind_vector_leaf.c -- the time is spent in wide vector loops, which align their stack by themselves
 *
 * Truth: main > leaf (AVX-512 where the CPU has it, AVX2 otherwise), and main > realigned > case_spin, where
 * `realigned` addresses its caller's frame through a register that it saved.
 */
#include "unwind_case.h"

enum { COUNT = 1000 };
static float a[COUNT], b[COUNT];

#define LOOP for (int round = 0; round < 20; round++) for (int i = 0; i < COUNT; i++) a[i] = a[i] * 0.5f + b[i];

__attribute__((target("avx512f"), optimize("O3"))) CASE_FRAME void leaf_512(void)
{
    LOOP
}

__attribute__((target("avx2"), optimize("O3"))) CASE_FRAME void leaf_256(void)
{
    LOOP
}

/* A variable array and an over-aligned one: the compiler needs a pointer to the arguments besides rbp. */
CASE_FRAME int realigned(int n, int p, int q, int r, int s, int t, int u, int v)
{
    _Alignas(64) volatile float wide[16];
    volatile char many[n];
    wide[n % 16] = 1;
    many[n - 1] = 1;
    case_spin();
    return many[n - 1] + (int)wide[n % 16] + p + q + r + s + t + u + v;
}

int main(void)
{
    case_begin();
    while (!case_is_over()) {
        if (__builtin_cpu_supports("avx512f"))
            leaf_512();
        else if (__builtin_cpu_supports("avx2"))
            leaf_256();
        for (int i = 0; i < 5; i++)
            realigned(10 + i, 1, 2, 3, 4, 5, 6, 7);
    }
    case_print();
    return 0;
}
