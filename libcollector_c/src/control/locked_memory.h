/* locked_memory.h -- the program locks its memory: what is ours is not counted */
#ifndef COL_CONTROL_LOCKED_MEMORY_H
#define COL_CONTROL_LOCKED_MEMORY_H

/*
 * The kernel measures all that is mapped by the limit on locked memory, our library and logs as well, which are larger than the usual limit. To be called from
 * ordinary code.
 */

/* Does for the program's memory what mlockall would have done, had there been nothing of ours; 0 or -errno. */
int col_locked_memory_lock(int flags);

/* It has locked all memory with these flags, ours too: unlocks that, if there is a limit that it counts for. */
void col_locked_memory_give_back(int flags);

#endif
