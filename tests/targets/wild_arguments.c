/* wild_arguments.c -- gives the calls of the API that may be made from anywhere what they cannot use, and ends well */
#include "libcollector.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    size_t bytes = 2000000;
    char *long_text = malloc(bytes + 1);
    memset(long_text, 'x', bytes);
    long_text[bytes] = '\0';
    collector_sample((const char *)16);
    collector_sample(long_text);
    collector_writelog((const void *)16, 10);
    collector_writelog(long_text, bytes);
    collector_writelog(long_text, (size_t)-1);
    collector_sample("last");
    collector_writelog(long_text, 1000000);
    puts("end");
    return 0;
}
