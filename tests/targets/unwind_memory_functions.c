/*
 * unwind_memory_functions.c -- the time is spent in libc's hand-written assembler
 *
 * Truth: main > copying > memcpy, main > filling > memset, main > measuring > strlen; about a third each. libc does
 * not export the names of its variants, so the test sees [libc.so.6] or a neighbour of theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "unwind_case.h"

enum { SIZE = 100000 };
static char *from, *to;
static volatile size_t length;

CASE_FRAME void copying(void)
{
    memcpy(to, from, SIZE);
    CASE_NO_TAIL_CALL;
}

CASE_FRAME void filling(void)
{
    memset(to, 'x', SIZE);
    CASE_NO_TAIL_CALL;
}

CASE_FRAME void measuring(void)
{
    length = strlen(from);
    CASE_NO_TAIL_CALL;
}

int main(void)
{
    from = malloc(SIZE);
    to = malloc(SIZE);
    memset(from, 'y', SIZE - 1);
    from[SIZE - 1] = '\0';
    case_begin();
    while (!case_is_over()) {
        copying();
        filling();
        measuring();
    }
    case_print();
    return 0;
}
