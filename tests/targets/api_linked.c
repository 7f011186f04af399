/* api_linked.c -- truth: makes every call through plain functions (-lcollectorAPI), once by address, and one from a constructor
 *
 * At the end it asks, as a JVM does, what the whole process finds under the name
 * collector_func_load: "same" if that is what the program itself calls.
 */
#define _GNU_SOURCE
#define COLLECTOR_LINKED
#include <stdio.h>

#include "libcollector.h"

__attribute__((weak)) void *dlsym(void *handle, const char *name);

static const Lineno lines[2] = {{0, 7}, {16, 5}};

__attribute__((constructor)) static void before_main(void)
{
    collector_sample("before main");
}

int main(void)
{
    void (*by_address)(const char *) = collector_sample;
    by_address("by address");
    collector_pause();
    collector_resume();
    collector_writelog("data", 4);
    collector_func_load("name", "an alias", "f.src", (void *)0x1000, 32, 2, lines);
    collector_func_unload((void *)0x1000);
    collector_module_load("m.o", (void *)0x3000);
    collector_module_unload((void *)0x3000);
    collector_terminate_expt();
    printf("version [%s] active %d\n", collector_version(), collector_is_active());
    puts(dlsym && dlsym(NULL, "collector_func_load") == (void *)collector_func_load ? "same" : "different");
    return 3;
}
