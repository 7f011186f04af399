/*
 * openmp_games.c -- what programs do in and to parallel regions: every stack with `labour` leads to the function that the game says
 *
 * The argument is the game. fork: both threads fork amid a region, and the children work. jump: a region is left by longjmp, again and again, and then others work. jump_inside: threads jump inside a region. openers: threads that
 * end open regions. arguments: many variables are shared, and the sum must be right. kinds: every kind of loop and sections. exits: the program ends amid a region.
 */
#include "measured_work.h"

#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { US = 30000 };

NOINLINE void labour(long us)
{
    work(us);
}

NOINLINE void region(long us)
{
#pragma omp parallel num_threads(2)
    labour(us);
    __asm__ volatile("");
}

NOINLINE void forks(void)
{
#pragma omp parallel num_threads(2)
    {
        labour(US);
#pragma omp critical
        {
            pid_t child = fork();
            if (child == 0) {
                labour(2 * US);
                _exit(0);
            }
            waitpid(child, NULL, 0);
        }
    }
    __asm__ volatile("");
}

static jmp_buf place;

NOINLINE void left(void)
{
#pragma omp parallel num_threads(1)
    {
        labour(US / 10);
        longjmp(place, 1);
    }
    __asm__ volatile("");
}

NOINLINE void after(void)
{
    labour(US / 10);
    __asm__ volatile("");
}

NOINLINE void jumps(void)
{
    for (volatile int i = 0; i < 10; i++) {
        if (setjmp(place) == 0)
            left();
        after();
    }
}

NOINLINE void jumps_inside(void)
{
#pragma omp parallel num_threads(2)
    for (volatile int i = 0; i < 10; i++) {
        jmp_buf here;
        if (setjmp(here) == 0) {
            labour(US / 10);
            longjmp(here, 1);
        }
    }
    __asm__ volatile("");
}

static void *opens(void *unused)
{
    region(US / 10);
    return unused;
}

static void openers(void)
{
    for (int round = 0; round < 10; round++) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, opens, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
    }
}

NOINLINE void arguments(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k)
{
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        labour(US);
        sum += a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k;
    }
    printf("sum %d\n", sum);
}

NOINLINE void kinds(void)
{
    int sum = 0;
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int i = 0; i < 4; i++)
        labour(US / 4);
#pragma omp parallel for num_threads(2) schedule(dynamic)
    for (int i = 0; i < 4; i++)
        labour(US / 4);
#pragma omp parallel for num_threads(2) schedule(guided)
    for (int i = 0; i < 4; i++)
        labour(US / 4);
#pragma omp parallel for num_threads(2) schedule(monotonic : dynamic)
    for (int i = 0; i < 4; i++)
        labour(US / 4);
#pragma omp parallel for num_threads(2) schedule(runtime)
    for (int i = 0; i < 4; i++)
        labour(US / 4);
#pragma omp parallel for num_threads(2) reduction(task, + : sum)
    for (int i = 0; i < 4; i++) {
        labour(US / 4);
        sum += i;
    }
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        labour(US / 2);
#pragma omp section
        labour(US / 2);
    }
    printf("sum %d\n", sum);
}

NOINLINE void exits(void)
{
#pragma omp parallel num_threads(2)
    {
        labour(US * (1 + omp_get_thread_num()));
        if (omp_get_thread_num() == 0)
            exit(0);
    }
    __asm__ volatile("");
}

int main(int count, char **words)
{
    const char *game = count > 1 ? words[1] : "";
    if (strcmp(game, "fork") == 0)
        forks();
    else if (strcmp(game, "jump") == 0)
        jumps(), region(US);
    else if (strcmp(game, "jump_inside") == 0)
        jumps_inside();
    else if (strcmp(game, "openers") == 0)
        openers();
    else if (strcmp(game, "arguments") == 0)
        arguments(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    else if (strcmp(game, "kinds") == 0)
        kinds();
    else if (strcmp(game, "exits") == 0)
        exits();
    else
        return 2;
    return 0;
}
