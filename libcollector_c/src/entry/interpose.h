/* interpose.h -- how a function that stands in front of the C library's is declared */
#ifndef COL_ENTRY_INTERPOSE_H
#define COL_ENTRY_INTERPOSE_H

/*
 * Every hook calls the real function, whatever else it does; without a session it does nothing else. Hooks may run before our
 * constructor, in signal handlers and in vfork children, wherever the function itself may.
 */
#define COL_EXPORT __attribute__((visibility("default")))

/* Before a thread is made: begins now, if our constructor has not run yet. */
void col_entry_begin_early(void);

#endif
