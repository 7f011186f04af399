/* python_without_lock.c -- what a build of CPython without a global interpreter lock looks like to the recorder: the names it exports, and the head of _PyRuntime
 * (Include/internal/pycore_debug_offsets.h of 3.14). Burns ARGUMENT ms of CPU time in its evaluator.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

struct {
    char cookie[8];
    uint64_t version, free_threaded, offsets[200];
} _PyRuntime __attribute__((section(".PyRuntime"))) = {{'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'}, 0x030e00f0, 1, {0}};

const unsigned long Py_Version = 0x030e00f0;
char PyCode_Type[400];

void *PyGILState_GetThisThreadState(void)
{
    return NULL;
}

__attribute__((noinline)) void _PyEval_EvalFrameDefault(clock_t end)
{
    while (clock() < end)
        for (volatile int i = 0; i < 100000; i++)
            ;
}

int main(int count, char **arguments)
{
    _PyEval_EvalFrameDefault((count > 1 ? atol(arguments[1]) : 100) * (CLOCKS_PER_SEC / 1000));
    return 0;
}
