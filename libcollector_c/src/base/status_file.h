/* status_file.h -- the status of a thread as text, without what makes it long */
#ifndef COL_BASE_STATUS_FILE_H
#define COL_BASE_STATUS_FILE_H

#include <stddef.h>

#define COL_STATUS_BYTES 2048 /* holds the whole of it, of which some 1,400 bytes are used */

#define COL_STATUS_OF_THREAD "/proc/thread-self/status"
#define COL_STATUS_OF_FIRST_THREAD                                                                                     \
    "/proc/self/status" /* cheaper; without what is the process's where that thread has ended */

/* The file but for its list of groups, which may be of any length and stands before most. Empty where there is none. Some 10 us. Signal-safe. */
void col_status_file_read(const char *path, char text[static COL_STATUS_BYTES]);

#endif
