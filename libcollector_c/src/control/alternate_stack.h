/* alternate_stack.h -- the stack that signals of ours are handled on */
#ifndef COL_CONTROL_ALTERNATE_STACK_H
#define COL_CONTROL_ALTERNATE_STACK_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Where a thread has no alternate stack the kernel puts a signal's frame below the stack pointer, wherever that points: below the small stack of a coroutine, or into
 * somebody's buffer where code of mathematical libraries uses the register for another purpose (oneDNN's products of matrices do). So each thread gets one of ours, until
 * the program gives it one. In the program's eyes it has none.
 */

/* The calling thread gets one, if it has none and there is memory. */
void col_alternate_stack_begin(void);

/* And gives it back: it ends, and has none from here on, not even one of the program, which may be freed before the thread is gone. */
void col_alternate_stack_end(void);

/*
 * sigaltstack(2) in the program's eyes; `stack` is readable. Where another thread has set the same memory already, as all threads of varnish do, this one keeps ours:
 * the program's handlers never run in two threads at a time there, but ticks would. Signal-safe.
 */
int col_alternate_stack_get(stack_t *old);
int col_alternate_stack_set(const stack_t *stack, stack_t *old);

/*
 * So much memory is about to be unmapped or protected. Where the calling thread's alternate stack lies there, which is harmless as long as no handler needs it, ours takes
 * its place: the kernel kills for a tick whose frame it cannot write. Signal-safe.
 */
void col_alternate_stack_lose(const void *memory, size_t bytes);

/* The same, wherever it lies: the process exits, and what it has registered for that may free it. */
void col_alternate_stack_lose_all(void);

/* The calling thread may have one already: from before recording began, or from the process that it is a fork of. */
void col_alternate_stack_adopt(void);

#endif
