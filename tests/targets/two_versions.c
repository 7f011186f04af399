/* two_versions.c -- a program before and after a change: hash takes HASH_ROUNDS rounds, and one of old_part and new_part is called */
#include <stdio.h>
#include <stdlib.h>

#ifndef HASH_ROUNDS
#define HASH_ROUNDS 10
#endif
#define APART __attribute__((noinline, noclone))

static volatile unsigned sink;

static APART unsigned hash(unsigned value, int rounds) {
    for (int i = 0; i < rounds * 1000; i++) value = value * 33 + (unsigned)i;
    return value;
}

static APART unsigned steady(unsigned value) {
    for (int i = 0; i < 10000; i++) value = value * 31 + (unsigned)i;
    return value;
}

#ifdef IS_NEW
static APART unsigned new_part(unsigned value) {
#else
static APART unsigned old_part(unsigned value) {
#endif
    for (int i = 0; i < 4000; i++) value = value * 37 + (unsigned)i;
    return value;
}

static APART void work(void) {
    sink = hash(sink, HASH_ROUNDS);
    sink = steady(sink);
#ifdef IS_NEW
    sink = new_part(sink);
#else
    sink = old_part(sink);
#endif
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 10000;
    for (int i = 0; i < rounds; i++) work();
    printf("sink %u\n", sink);
    return 0;
}
