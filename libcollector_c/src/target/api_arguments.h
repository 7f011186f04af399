/* api_arguments.h -- what a program gives when it calls the API: what of it can be read, and how much was of no use */
#ifndef COL_TARGET_API_ARGUMENTS_H
#define COL_TARGET_API_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A wild pointer is a wrong argument, not a crash. From anywhere; what the program gives is read while the call lasts. */

/* True for a string that can be read and has at most 65,535 bytes. */
bool col_api_arguments_is_text(const char *text);

/* How many bytes from `address` on can be read, up to `most`. */
size_t col_api_arguments_readable(uintptr_t address, size_t most);

/* A call was of no use because of its arguments. Losses are told in the log when they first happen and at the close. */
void col_api_arguments_drop(void);

/* `error`: what came of writing a record that the program asked for, 0 or -errno. */
void col_api_arguments_count(int error);

/* Calls that were of no use, and records that could not be written, so far. */
uint64_t col_api_arguments_drop_count(void);

/* The log is about to be closed: tells what was counted. */
void col_api_arguments_close(void);

/* In a fork child, whose log knows nothing yet. */
void col_api_arguments_forget(void);

#endif
