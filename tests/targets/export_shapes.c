/* export_shapes.c -- two threads with names of blanks and semicolons that burn CPU time in inlined calls, recursion, and a function
 * `hostile` that tests give a worse name. Its inlined_leaf is in inlined_middle is in outer; recursive calls itself 9 times.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>

static volatile double sink;

static inline __attribute__((always_inline)) double inlined_leaf(double x)
{
    for (int i = 0; i < 2000; i++)
        x = x * 1.0000001 + i * 0.5;
    return x;
}

static inline __attribute__((always_inline)) double inlined_middle(double x) { return inlined_leaf(x) + inlined_leaf(x + 1); }

__attribute__((noinline)) double outer(double x) { return inlined_middle(x); }

__attribute__((noinline)) double recursive(int calls, double x)
{
    double more = calls > 1 ? recursive(calls - 1, x) : 0;
    return more + outer(x) * 0.5;
}

__attribute__((noinline)) void hostile(void)
{
    for (int i = 0; i < 300; i++)
        sink += outer(i);
}

static void *work(void *name)
{
    pthread_setname_np(pthread_self(), name);
    for (int i = 0; i < 20; i++) {
        for (int j = 0; j < 100; j++)
            sink += recursive(10, j);
        hostile();
    }
    return NULL;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, work, "wor;k er\n1");
    work("main 12/13");
    pthread_join(other, NULL);
    return 0;
}
