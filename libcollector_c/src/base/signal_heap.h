/* signal_heap.h -- memory that signal handlers may ask for and give back */
#ifndef COL_BASE_SIGNAL_HEAP_H
#define COL_BASE_SIGNAL_HEAP_H

#include <stddef.h>

/*
 * From anywhere, signal handlers included: whoever changes the heap has all signals blocked, so nobody waits for a thread that he interrupted.
 * Sizes are rounded up to a power of two; large pieces are mappings of their own. Memory is aligned to 16 bytes. NULL: there is none.
 */
void *col_signal_heap_allocate(size_t bytes);
void col_signal_heap_free(void *memory);         /* NULL is nothing */
size_t col_signal_heap_size(const void *memory); /* bytes of a piece, at least those asked for */

/* In a fork child: a thread that is not here any more may have been at work. */
void col_signal_heap_unlock(void);

#endif
