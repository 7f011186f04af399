/* uneven_threads.c -- truth: each of so many threads at once is 0.9 in long_part and then 0.1 in short_part, of so many milliseconds; or with `split`, four threads are ten, twenty, thirty and forty all the time
 *
 * uneven_threads THREADS MILLISECONDS | uneven_threads split MILLISECONDS. The first is the worst case for a clock that gives what it missed to the next sample.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "measured_work.h"

static long ms;
static struct account accounts[] = {{"ten", 0}, {"twenty", 0}, {"thirty", 0}, {"forty", 0}, {"long_part", 0}, {"short_part", 0}};

NOINLINE void ten(void) { work(ms * 100); }
NOINLINE void twenty(void) { work(ms * 200); }
NOINLINE void thirty(void) { work(ms * 300); }
NOINLINE void forty(void) { work(ms * 400); }
NOINLINE void long_part(void) { work(ms * 900); }
NOINLINE void short_part(void) { work(ms * 100); }

static void (*const parts[])(void) = {ten, twenty, thirty, forty, long_part, short_part};

static void book(int part)
{
    int64_t begun = thread_ns();
    parts[part]();
    __atomic_fetch_add(&accounts[part].ns, thread_ns() - begun, __ATOMIC_RELAXED);
}

static void *run(void *part)
{
    if (part != NULL) {
        book((int)((struct account *)part - accounts));
    } else {
        book(4);
        book(5);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int is_split = argc > 1 && strcmp(argv[1], "split") == 0, count = is_split ? 4 : argc > 1 ? atoi(argv[1]) : 4;
    ms = argc > 2 ? atol(argv[2]) : 500;
    pthread_t threads[64];
    for (int i = 0; i < count && i < 64; i++)
        if (pthread_create(&threads[i], NULL, run, is_split ? &accounts[i] : NULL) != 0)
            return 1;
    for (int i = 0; i < count && i < 64; i++)
        pthread_join(threads[i], NULL);
    for (int i = is_split ? 0 : 4; i < (is_split ? 4 : 6); i++)
        print_account(&accounts[i]);
    printf("process %lld\n", (long long)process_ns());
    return 0;
}
