/* status_file.h -- /proc/thread-self/status as text, without what makes it long */
#ifndef COL_BASE_STATUS_FILE_H
#define COL_BASE_STATUS_FILE_H

#include <stddef.h>

#define COL_STATUS_BYTES 2048 /* holds the whole of it, of which some 1,400 bytes are used */

/* The file but for its list of groups, which may be of any length and stands before most. Empty where there is none. Some 11 us. Signal-safe. */
void col_status_file_read(char text[static COL_STATUS_BYTES]);

#endif
