/* allinea_safe_syscalls.h -- time, files and text for metric plugins, also while a signal handler runs */
#ifndef ALLINEA_SAFE_SYSCALLS_H
#define ALLINEA_SAFE_SYSCALLS_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * CALLABLE FROM ANYWHERE, signal handlers included. Those that return int or ssize_t give -1 and set errno where they fail; calls that a signal
 * interrupts are made again. Bytes they move are not counted as the program's in anything the collector itself reports.
 * Descriptors are closed by exec, and have high numbers where the limit allows: the program does not find its own numbers taken. The program may close
 * all it finds; a plugin that keeps one open must live with that.
 */

/* Now, on the clock of all samples: CLOCK_MONOTONIC. */
struct timespec allinea_get_current_time(void);

/* open(2); the mode follows where the flags create a file. */
int allinea_safe_open(const char *file, int oflags, ...);
int allinea_safe_close(int fd);
ssize_t allinea_safe_read(int fd, void *buf, size_t count);
ssize_t allinea_safe_write(int fd, const void *buf, size_t count);

/* Reads until the buffer is full or the file ends; how many bytes. Nothing is added behind them. */
ssize_t allinea_safe_read_all(int fd, void *buf, size_t count);

/* Reads until the file ends, into memory that allinea_safe_free takes back: its address into *buf, its size into *count, a NUL behind the last byte. */
ssize_t allinea_safe_read_all_with_alloc(int fd, void **buf, size_t *count);

/*
 * Reads one line; its newline is taken off, a NUL put behind it, and what does not fit `count` bytes with the NUL is passed over. How many bytes were
 * read from the file for it, the newline included: so 0 is the end of the file, and an empty line is 1.
 */
ssize_t allinea_safe_read_line(int fd, void *buf, size_t count);

/* printf(3) to standard output, to a descriptor; the conversions are those of allinea_metric_plugin_errors.h. */
void allinea_safe_printf(const char *format, ...);
void allinea_safe_fprintf(int fd, const char *format, ...);
void allinea_safe_vfprintf(int fd, const char *format, va_list ap);

/* Sleeps for `usec` microseconds; what a signal leaves of them is slept again, at most `retry` times. Not in a getter: the program waits for it. */
int allinea_safe_usleep_with_retry(unsigned int usec, unsigned int retry);

#ifdef __cplusplus
}
#endif

#endif
