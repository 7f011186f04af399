/* late.c -- a library that works and forks at the end of the program, behind the destructors of those that come before it */
#include "matrix.h"

__attribute__((destructor)) static void finish(void)
{
    burn();
    pid_t pid = fork();
    if (pid == 0) {
        burn();
        _exit(3);
    }
    say_end(pid);
}
