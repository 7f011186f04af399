/* library.c -- a library to load and unload: it works in its constructor, when called, and in its destructor */
#define MATRIX_NO_MAIN
#include "matrix.h"

#ifndef QUIET
__attribute__((constructor)) static void begins(void) { spin(1000000); }
__attribute__((destructor)) static void ends(void) { spin(1000000); }
#endif
__thread int private_count = 3;
int answer(void) { spin(1000000); return 42 + private_count - 3; }
int malloc_usable(void) { return 7; }
