/* errors_it_finds.c -- says what errno and dlerror are when it begins, after some CPU time, and when it ends */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void say(const char *when)
{
    int error = errno;
    const char *text = dlerror();
    printf("%s: %d, %s\n", when, error, text != NULL ? text : "nothing");
    fflush(stdout);
    errno = error;
}

__attribute__((destructor)) static void end(void)
{
    say("end");
}

int main(void)
{
    say("begin");
    for (clock_t until = clock() + CLOCKS_PER_SEC / 5; clock() < until;)
        continue;
    say("later");
    return 0;
}
