/* kept_text.h -- strings that stay as long as the process, in memory of our own */
#ifndef COL_BASE_KEPT_TEXT_H
#define COL_BASE_KEPT_TEXT_H

/* `first` and `second` in one string; NULL: no memory. Ordinary code, while one thread is all there is. Not by malloc: leak checkers would name it. */
char *col_kept_text_join(const char *first, const char *second);

#endif
