/* exits.c -- a library whose constructor ends the program */
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void ends(void)
{
    if (getenv("EXIT_SOFTLY"))
        exit(21);
    _exit(20);
}
