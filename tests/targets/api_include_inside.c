/* api_include_inside.c -- truth: two functions include the header in their bodies and sample "first", then "second"
 *
 * C89 and C++98 in one text; in C++ the second is in an unnamed namespace.
 */
#include <stdio.h>

static void first(void)
{
#include "libcollector.h"
    collector_sample("first");
}

#ifdef __cplusplus
namespace {
#else
static void second(void);
#endif
void second(void)
{
#include "libcollector.h"
    collector_sample("second");
}
#ifdef __cplusplus
}
#endif

int main(void)
{
    first();
    second();
    puts("done");
    return 3;
}
