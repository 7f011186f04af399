/* code_cost.c -- tells of COUNT functions of 128 bytes with 8 lines, and unloads them; prints the ns that a call takes */
#include <stdlib.h>

#include "libcollector.h"
#include "made_code.h"

#define BYTES 128

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 100000;
    char *room = make_room((size_t)count * BYTES), name[64];
    Lineno lines[8];
    int64_t told = 0, begun;
    for (int i = 0; i < 8; i++)
        lines[i] = (Lineno){4 * i, 100 - i};
    memset(room, 0x90, (size_t)count * BYTES);
    for (long i = 0; i < count; i++) {
        snprintf(name, sizeof name, "function number %ld", i);
        begun = cpu_ns();
        collector_func_load(name, "one of many", "/src/many.jit", room + i * BYTES, BYTES, 8, lines);
        told += cpu_ns() - begun;
    }
    begun = cpu_ns();
    for (long i = 0; i < count; i++)
        collector_func_unload(room + i * BYTES);
    printf("load %ld\nunload %ld\n", (long)(told / count), (long)((cpu_ns() - begun) / count));
    return 0;
}
