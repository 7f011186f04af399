/* made_functions.c -- functions made at run time, moved, unloaded, nested, told too late; prints the CPU time of each name, `unnamed` where none is valid */
#include <stdlib.h>

#include "libcollector.h"
#include "made_code.h"

#define SLOT 4096

static void tell(const char *name, const void *code, int bytes)
{
    collector_func_load(name, "made at run time", NULL, code, bytes, 0, NULL);
}

int main(int argc, char **argv)
{
    int64_t ms = argc > 1 ? atoi(argv[1]) : 100, unnamed = 0, moved = 0, outer = 0;
    char *room = make_room(16 * SLOT);
    if (room == NULL)
        return 1;

    int bytes = make_function(room, 1);
    tell("plain", room, bytes);
    printf("plain %ld\n", (long)run_code(room, ms));

    bytes = make_function(room + SLOT, 1);
    tell("moved", room + SLOT, bytes);
    moved += run_code(room + SLOT, ms);
    memcpy(room + 2 * SLOT, room + SLOT, (size_t)bytes);
    __builtin___clear_cache(room + 2 * SLOT, room + 2 * SLOT + bytes);
    collector_func_unload(room + SLOT);
    tell("moved", room + 2 * SLOT, bytes);
    moved += run_code(room + 2 * SLOT, ms);
    printf("moved %ld\n", (long)moved);
    unnamed += run_code(room + SLOT, ms); /* nothing is there any more, as far as was told */

    /* One address, three tenants; the first never says that it leaves. */
    bytes = make_function(room + 3 * SLOT, 1);
    tell("the first \"tenant\"", room + 3 * SLOT, bytes);
    printf("tenant1 %ld\n", (long)run_code(room + 3 * SLOT, ms));
    tell("der zweite Mieter \xc3\xbc\xe2\x82\xac", room + 3 * SLOT, bytes);
    printf("tenant2 %ld\n", (long)run_code(room + 3 * SLOT, ms * 2));
    collector_func_unload(room + 3 * SLOT);
    tell("third<int>(char const*, `x')", room + 3 * SLOT, bytes);
    printf("tenant3 %ld\n", (long)run_code(room + 3 * SLOT, ms));

    /* A function within another one's range. */
    bytes = make_function(room + 4 * SLOT, 1);
    tell("outer", room + 4 * SLOT, 2 * SLOT);
    outer += run_code(room + 4 * SLOT, ms);
    make_function(room + 5 * SLOT, 1);
    tell("inner", room + 5 * SLOT, bytes);
    printf("inner %ld\n", (long)run_code(room + 5 * SLOT, ms));
    collector_func_unload(room + 5 * SLOT);
    outer += run_code(room + 5 * SLOT, ms);
    printf("outer %ld\n", (long)outer);

    /* Valid from the call on, and not before. */
    bytes = make_function(room + 6 * SLOT, 1);
    unnamed += run_code(room + 6 * SLOT, ms * 2);
    tell("late", room + 6 * SLOT, bytes);
    printf("late %ld\n", (long)run_code(room + 6 * SLOT, ms));

    /* Two loops, two lines, the later one first. */
    static const Lineno lines[] = {{0, 40}, {MADE_LOOP_BYTES, 7}};
    bytes = make_function(room + 7 * SLOT, 2);
    collector_func_load("lined", NULL, "/src/lined.jit", room + 7 * SLOT, bytes, 2, lines);
    printf("lined %ld\n", (long)run_code(room + 7 * SLOT, ms * 2));
    printf("unnamed %ld\n", (long)unnamed);
    return 0;
}
