/* own_beginning.h -- how the log of a process begins that records others, not itself */
#ifndef COL_TARGET_OWN_BEGINNING_H
#define COL_TARGET_OWN_BEGINNING_H

/* Write INITIALIZE: which process this is, when it began, and on which machine. It is no rank of a job. */
void col_own_beginning_write(void);

#endif
