/* log_windows.h -- the parts of the log that are in memory now */
#ifndef COL_EXPERIMENT_LOG_WINDOWS_H
#define COL_EXPERIMENT_LOG_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "experiment/sparse_file.h"

/*
 * The log is written through windows of COL_SPARSE_WINDOW_BYTES. A window is mapped by the first who needs it, and unmapped by the last who leaves it
 * once the log's tail has passed: never under somebody's hands, and never by waiting for somebody.
 */
#define COL_LOG_WINDOWS_COUNT 16384u /* 64 GiB */

/* From anywhere, signal handlers included. */

/* Counts us into a window and returns where it is; NULL: no memory; is_left: the tail has passed. leave must follow in any case. */
uint8_t *col_log_windows_enter(uint32_t index);
void col_log_windows_leave(uint32_t index);
bool col_log_windows_is_left(const uint8_t *start);

/* Makes bytes `from` to `to` of a window we are in safe to store to; 0 or -errno. */
int col_log_windows_make_room(uint32_t index, uint8_t *start, uint32_t from, uint32_t to);

/* The tail has passed this window. */
void col_log_windows_drop(uint32_t index);

/* In a fork child, where none of them is mapped. */
void col_log_windows_forget(void);

/* From ordinary code, while nobody can enter. */

void col_log_windows_open(const struct col_sparse_file *file);

/* Gives those who are inside some time to leave; false: a thread was stopped inside and is not waited for. */
bool col_log_windows_wait(void);

/* Lets go of a file that is not written any more; -EBUSY: somebody is still inside. */
int col_log_windows_close(void);

#endif
