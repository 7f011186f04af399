/* own_io.h -- bytes that we and metric plugins move: in the kernel's account of the process, but not the program's */
#ifndef COL_BASE_OWN_IO_H
#define COL_BASE_OWN_IO_H

#include <stdint.h>
#include <sys/types.h>

/* From anywhere, signal handlers included. */

/* Counts what a call moved; an answer below 0 is nothing. Returns it. */
ssize_t col_own_io_count_read(ssize_t bytes);
ssize_t col_own_io_count_write(ssize_t bytes);

/* So far, in this process. */
uint64_t col_own_io_read_bytes(void);
uint64_t col_own_io_written_bytes(void);

/* In a fork child, whose account begins at 0. */
void col_own_io_forget(void);

#endif
