/* code_arguments.c -- calls the functions that tell of code with anything at all, CALLS times; prints how many calls were wrong, at least, and ends well */
#include <limits.h>
#include <stdlib.h>

#include "libcollector.h"
#include "made_code.h"

static unsigned long state = 88172645463325252UL;

static unsigned long chance(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static const char *any_text(char *edge)
{
    switch (chance() % 8) {
    case 0: return NULL;
    case 1: return (const char *)(uintptr_t)chance();
    case 2: return (const char *)(uintptr_t)(chance() % 4096);
    case 3: return edge - chance() % 64; /* runs into a page that is not there */
    case 4: return "";
    case 5: return "with blanks, \"quotes\" and \xff\xfe bytes\n";
    default: return "sensible";
    }
}

static const void *any_address(char *room, char *edge)
{
    switch (chance() % 6) {
    case 0: return NULL;
    case 1: return (const void *)(uintptr_t)chance();
    case 2: return (const void *)(UINTPTR_MAX - chance() % 64);
    case 3: return edge - chance() % 64;
    default: return room + chance() % 4096;
    }
}

static int any_size(void)
{
    switch (chance() % 6) {
    case 0: return (int)chance();
    case 1: return INT_MAX;
    case 2: return INT_MIN;
    case 3: return 0;
    default: return (int)(chance() % 5000);
    }
}

int main(int argc, char **argv)
{
    int calls = argc > 1 ? atoi(argv[1]) : 100000, wrong = 0;
    char *room = make_room(3 * 4096), *edge = room + 2 * 4096;
    Lineno lines[64];
    memset(room, 'x', 2 * 4096);
    munmap(edge, 4096);
    for (int i = 0; i < calls; i++) {
        for (int j = 0; j < 64; j++)
            lines[j] = (Lineno){chance() % 4 ? j * 4 : (int)chance(), (int)chance()};
        const char *name = any_text(edge), *alias = any_text(edge), *source = any_text(edge); /* the macros evaluate nothing where nothing is recorded */
        const void *address = any_address(room, edge), *table = chance() % 3 ? lines : any_address(room, edge);
        int size = any_size(), count = chance() % 3 ? (int)(chance() % 64) : any_size();
        switch (chance() % 16) {
        case 0: collector_func_unload(address); break;
        case 1: collector_module_unload(address); break;
        case 2: collector_module_load(i % 2 ? "/proc/self/cmdline" : alias, address); break;
        default:
            wrong += name == NULL || size <= 0 || address == NULL;
            collector_func_load(name, alias, source, address, size, count, table);
        }
    }
    printf("wrong %d\n", wrong);
    return 0;
}
