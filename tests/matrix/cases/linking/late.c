/* late.c -- a library that works and forks at the end of the program, behind the destructors of those that come before it */
#include "matrix.h"

__attribute__((destructor)) static void finish(void)
{
    burn();
    burn_in_child(3);
}
