/* text_format.h -- printf's conversions, for signal handlers */
#ifndef COL_BASE_TEXT_FORMAT_H
#define COL_BASE_TEXT_FORMAT_H

#include <stdarg.h>
#include <stddef.h>

/*
 * From anywhere, signal handlers included: nothing here allocates, locks, or looks at the locale. Knows d i u x X o c s p f F e E g G and %%, the flags
 * - + blank 0 #, width and precision (* too), and the lengths hh h l ll z j t; reals have at most 17 decimals, and halves are rounded up. What it does not know is printed as it stands.
 */

/* Where the text goes, piece by piece. */
struct col_text_sink {
    void (*put)(struct col_text_sink *sink, const char *text, size_t bytes);
};

void col_text_format(struct col_text_sink *sink, const char *format, va_list arguments);

/* Into `text`, cut to its `size` and always ended by a zero. */
void col_text_format_into(char *text, size_t size, const char *format, va_list arguments);
void col_text_print_into(char *text, size_t size, const char *format, ...);

#endif
