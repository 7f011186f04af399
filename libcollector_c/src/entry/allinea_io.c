/* allinea_io.c -- what metric plugins call instead of the C library's input and output */
#include "entry/interpose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "allinea_safe_malloc.h"
#include "allinea_safe_syscalls.h"
#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/own_io.h"
#include "base/text_format.h"

#define HIGH_ENOUGH 4096
#define PIECE_BYTES 512

static ssize_t answer(ssize_t result)
{
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

COL_EXPORT struct timespec allinea_get_current_time(void)
{
    return timespec_of(col_clock_now());
}

/* ---- descriptors ---- */

/* The lowest free number is one the program may count on finding. */
static int moved_up(int fd)
{
    struct rlimit limit = {1024, 1024};
    col_arch_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
    long low = limit.rlim_cur > HIGH_ENOUGH ? HIGH_ENOUGH : (long)limit.rlim_cur / 2;
    long copy = col_arch_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, low, 0, 0, 0);
    if (copy < 0)
        return fd;
    col_os_close(fd);
    return (int)copy;
}

COL_EXPORT int allinea_safe_open(const char *file, int oflags, ...)
{
    va_list list;
    va_start(list, oflags);
    mode_t mode = (oflags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    int fd = col_os_open(file, oflags, mode);
    return fd < 0 ? (int)answer(fd) : moved_up(fd);
}

COL_EXPORT int allinea_safe_close(int fd)
{
    return (int)answer(col_os_close(fd));
}

COL_EXPORT ssize_t allinea_safe_read(int fd, void *buf, size_t count)
{
    return answer(col_os_read(fd, buf, count));
}

COL_EXPORT ssize_t allinea_safe_write(int fd, const void *buf, size_t count)
{
    long result;
    do
        result = col_arch_syscall(SYS_write, fd, (long)buf, (long)count, 0, 0, 0);
    while (result == -EINTR);
    return answer(col_own_io_count_write(result));
}

/* ---- whole files and lines ---- */

COL_EXPORT ssize_t allinea_safe_read_all(int fd, void *buf, size_t count)
{
    size_t bytes = 0;
    ssize_t part = 0;
    while (bytes < count && (part = allinea_safe_read(fd, (char *)buf + bytes, count - bytes)) > 0)
        bytes += (size_t)part;
    return part < 0 ? -1 : (ssize_t)bytes;
}

COL_EXPORT ssize_t allinea_safe_read_all_with_alloc(int fd, void **buf, size_t *count)
{
    size_t room = 4096, bytes = 0;
    char *text = allinea_safe_malloc(room);
    ssize_t part = 0;
    while (text != NULL && (part = allinea_safe_read(fd, text + bytes, room - 1 - bytes)) > 0) {
        bytes += (size_t)part;
        if (bytes < room - 1)
            continue;
        char *larger = allinea_safe_realloc(text, room *= 2);
        if (larger == NULL)
            allinea_safe_free(text);
        text = larger;
    }
    if (text == NULL || part < 0) {
        allinea_safe_free(text);
        return -1;
    }
    text[bytes] = '\0';
    *buf = text;
    *count = bytes + 1;
    return (ssize_t)bytes;
}

/* A piece of the file that ends with the line, or with the piece. Where one cannot go back in the file it is a single byte. */
static ssize_t read_piece(int fd, char *piece, bool can_go_back, bool *is_end)
{
    ssize_t bytes = allinea_safe_read(fd, piece, can_go_back ? PIECE_BYTES : 1);
    const char *newline = bytes > 0 ? memchr(piece, '\n', (size_t)bytes) : NULL;
    *is_end = bytes <= 0 || newline != NULL;
    if (newline == NULL)
        return bytes;
    ssize_t used = newline - piece + 1;
    if (used < bytes)
        col_arch_syscall(SYS_lseek, fd, used - bytes, SEEK_CUR, 0, 0, 0);
    return used;
}

COL_EXPORT ssize_t allinea_safe_read_line(int fd, void *buf, size_t count)
{
    char piece[PIECE_BYTES], *text = buf;
    size_t stored = 0;
    ssize_t total = 0, bytes;
    bool can_go_back = col_arch_syscall(SYS_lseek, fd, 0, SEEK_CUR, 0, 0, 0) >= 0, is_end = false;
    if (count == 0)
        return answer(-EINVAL);
    while (!is_end) {
        bytes = read_piece(fd, piece, can_go_back, &is_end);
        if (bytes < 0)
            return -1;
        total += bytes;
        size_t wanted = (size_t)bytes - (bytes > 0 && piece[bytes - 1] == '\n');
        wanted = wanted < count - 1 - stored ? wanted : count - 1 - stored;
        memcpy(text + stored, piece, wanted);
        stored += wanted;
    }
    text[stored] = '\0';
    return total;
}

/* ---- text ---- */

struct descriptor_sink {
    struct col_text_sink sink;
    int fd;
    size_t bytes;
    char text[PIECE_BYTES];
};

static void flush(struct descriptor_sink *out)
{
    for (size_t written = 0; written < out->bytes;) {
        ssize_t part = allinea_safe_write(out->fd, out->text + written, out->bytes - written);
        if (part <= 0)
            break;
        written += (size_t)part;
    }
    out->bytes = 0;
}

static void put_out(struct col_text_sink *sink, const char *text, size_t bytes)
{
    struct descriptor_sink *out = (struct descriptor_sink *)(void *)sink;
    while (bytes > 0) {
        size_t room = sizeof out->text - out->bytes, part = bytes < room ? bytes : room;
        memcpy(out->text + out->bytes, text, part);
        out->bytes += part;
        text += part;
        bytes -= part;
        if (out->bytes == sizeof out->text)
            flush(out);
    }
}

COL_EXPORT void allinea_safe_vfprintf(int fd, const char *format, va_list ap)
{
    struct descriptor_sink out;
    out.sink.put = put_out;
    out.fd = fd;
    out.bytes = 0;
    col_text_format(&out.sink, format, ap);
    flush(&out);
}

COL_EXPORT void allinea_safe_fprintf(int fd, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    allinea_safe_vfprintf(fd, format, arguments);
    va_end(arguments);
}

COL_EXPORT void allinea_safe_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    allinea_safe_vfprintf(STDOUT_FILENO, format, arguments);
    va_end(arguments);
}

/* ---- sleep ---- */

COL_EXPORT int allinea_safe_usleep_with_retry(unsigned int usec, unsigned int retry)
{
    struct timespec rest = timespec_of((uint64_t)usec * 1000);
    long result;
    do
        result = col_arch_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&rest, (long)&rest, 0, 0);
    while (result == -EINTR && retry-- > 0);
    return (int)answer(result);
}
