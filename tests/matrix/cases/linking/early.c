/* early.c -- a library whose constructor makes a thread, as some of mathematics do */
#include "matrix.h"

static pthread_t thread;
static void *works(void *unused) { burn(); burn(); return unused; }
__attribute__((constructor)) static void begin(void) { pthread_create(&thread, NULL, works, NULL); }
__attribute__((destructor)) static void finish(void) { pthread_join(thread, NULL); }
