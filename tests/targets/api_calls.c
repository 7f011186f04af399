/* api_calls.c -- truth: makes every call of libcollector.h once, in a fixed order, with macros as bodies of if, else and for
 *
 * C89 and C++98 in one text. Prints the version it sees and whether it is recorded.
 */
#include <stdio.h>

#include "libcollector.h"

static Lineno lines[2] = {{0, 7}, {16, 5}};
static int evaluated_count;

static const char *counted(const char *label)
{
    evaluated_count++;
    return label;
}

int main(int argc, char **argv)
{
    char label[] = "writable";
    int i;

    if (argc > 0)
        collector_sample("if");
    else
        collector_pause();
    if (argc > 1000)
        collector_resume();
    else if (argc > 0)
        collector_sample("else if");
    else
        collector_resume();
    for (i = 0; i < 2; i++)
        collector_sample(label);
    collector_sample(counted("counted"));
    collector_sample(NULL);
    argc > 0 ? collector_pause() : collector_resume();
    collector_resume(), collector_writelog("data", 4);
    collector_func_load("name", "an alias", "f.src", argv ? (void *)0x1000 : NULL, 32, 2, lines);
    collector_func_load("bare", NULL, NULL, (void *)0x2000, 8, 0, NULL);
    collector_func_unload((void *)0x1000);
    collector_module_load("m.o", (void *)0x3000);
    collector_module_unload((void *)0x3000);
    collector_terminate_expt();
    printf("version [%s] active %d evaluated %d\n", collector_version(), collector_is_active(), evaluated_count);
    return 3;
}
