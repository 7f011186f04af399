/* alternate_stack.h -- the stack that signals of ours are handled on */
#ifndef COL_CONTROL_ALTERNATE_STACK_H
#define COL_CONTROL_ALTERNATE_STACK_H

#include <signal.h>
#include <stdbool.h>

/*
 * Where a thread has no alternate stack the kernel puts a signal's frame below the stack pointer, wherever that points: below the small stack of a coroutine, or into
 * somebody's buffer where code of mathematical libraries uses the register for another purpose (oneDNN's products of matrices do). So each thread gets one of ours, until
 * the program gives it one. In the program's eyes it has none.
 */

/* The calling thread gets one, if it has none and there is memory. */
void col_alternate_stack_begin(void);

/* And gives it back: it ends. */
void col_alternate_stack_end(void);

/* Is it the calling thread's, given by us? */
bool col_alternate_stack_is_ours(const stack_t *stack);

#endif
