/* preloaded_answer.c -- truth: preloaded, it makes every program believe that it is 1970 */
#include <stddef.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = 86400 * 100;
    now->tv_nsec = 0;
    return 0;
}

time_t time(time_t *now)
{
    if (now != NULL)
        *now = 86400 * 100;
    return 86400 * 100;
}
