/* interpose.h -- how a function that stands in front of the C library's is declared */
#ifndef COL_ENTRY_INTERPOSE_H
#define COL_ENTRY_INTERPOSE_H

/*
 * Every hook calls the real function, whatever else it does; without a session it does nothing else. Hooks may run before our
 * constructor, in signal handlers and in vfork children, wherever the function itself may.
 */
#define COL_EXPORT __attribute__((visibility("default")))

/* Some functions have two names in the C library, and programs may call either. Behind the function. */
#define COL_SECOND_NAME(name, function)                                                                                \
    COL_EXPORT __typeof__(function) name __attribute__((alias(#function), copy(function)))

/* The program has set an alternate stack: from here on exit first calls ours, which takes it away. */
void col_entry_note_alternate_stack(void);

/* Before a thread is made: begins now, if our constructor has not run yet. */
void col_entry_begin_early(void);

#endif
