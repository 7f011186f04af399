/* sanitized.c -- truth: prints `sum 79999600000`, made by four threads with memory of their own; `overrun` writes one byte too many on purpose */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, NUMBERS = 200000 };
#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 40 }; /* each takes many times as long */
#else
enum { ROUNDS = 150 };
#endif

static void *add(void *unused)
{
    long *numbers = malloc(NUMBERS * sizeof *numbers), *sum = calloc(1, sizeof *sum);
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        *sum = 0;
        for (long i = 0; i < NUMBERS; i++)
            numbers[i] = i;
        for (long i = 0; i < NUMBERS; i++)
            *sum += numbers[i];
    }
    free(numbers);
    return sum;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    long total = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < THREADS; i++) {
        void *sum;
        pthread_join(threads[i], &sum);
        total += *(long *)sum;
        free(sum);
    }
    printf("sum %ld\n", total);
    if (argc > 1 && strcmp(argv[1], "overrun") == 0) {
        volatile char *bytes = malloc((size_t)argc * 4);
        bytes[argc * 4] = 1;
        free((void *)bytes);
    }
    return 0;
}
